# expect: DLB409 16:14
import functools


@functools.lru_cache(maxsize=None)
def square(i):
    print("squaring", i)
    return i * i


n = 8
out = [0] * n
# a call whose result is in the cache writes nothing, and each rank has a cache of its own
# dlb: parallel
for i in range(n):
    out[i] = square(i % 3)
print(out)
