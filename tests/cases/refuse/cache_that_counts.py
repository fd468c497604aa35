# expect: DLB409 15:14
import functools


@functools.lru_cache(maxsize=None)
def square(i):
    return i * i


n = 8
out = [0] * n
# the hits and misses of a cache are read after the loop: iterations share its counts
# dlb: parallel
for i in range(n):
    out[i] = square(i % 3)
print(out, square.cache_info())
