"""Lists as arrays: elements, rows of lists changed in place, objects; enumerate, zip and reversed."""

import fractions

import numpy as np

n = 23
squares = [None] * n
table = [[0] * 4 for _ in range(n)]
same = table[5]
names = [f"name{k}" for k in range(n)]

# dlb: parallel, BLOCK
for i, name in enumerate(names):
    squares[i] = (name.upper(), fractions.Fraction(i, 7))
    for k in range(4):
        table[i][k] = i * k

print(squares)
print(table, same is table[5], same)

lengths = [0] * n
# dlb: parallel, CYCLIC
for k, (a, b) in enumerate(zip(names, reversed(names))):
    lengths[k] = len(a) * 100 + len(b)
print(lengths, k, a, b)

last = None
# dlb: parallel
for word in names:
    last = word[::-1]
print(last, word)

rows = np.zeros((n, 2))
held = [None] * n
# dlb: parallel
for k in range(n):
    held[k] = rows[k]
    held[k][1] = k + 5.0
print(rows.tolist(), held[0].base is rows)

numbers = list(range(n))
# dlb: parallel
for k, number in enumerate(numbers):
    numbers[k] = number * 2 + k
print(numbers, k, number)
