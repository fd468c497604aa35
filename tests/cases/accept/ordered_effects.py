import sys
from collections import deque


def square(i):
    print("squaring", i)
    return i * i


items, pairs = [], deque()
found = set()
squares = {}
out = [0] * 5
ix = [4, 3, 2, 1, 0, 0]
# dlb: parallel
for i in range(6):
    v = square(i)
    items.append(v)
    items.extend([i, i + 1])
    pairs.appendleft((i, v))
    if v % 2:
        found.add(v)
    squares[f"{i}"] = v
    out[ix[i] % 5] = v
    print(i, v, sep=": ")
    sys.stdout.write(".\n")
print(items, pairs, sorted(found), squares, out)
