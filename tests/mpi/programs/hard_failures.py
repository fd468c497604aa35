"""Memory that runs out, exits, endless recursion in iterations, on several ranks at once; work moves."""

import resource
import sys

import numpy as np

sys.setrecursionlimit(60_000)


def fill(i):
    """Take memory until there is none: an address space that ends 32 MiB further on."""
    kept, limits = [], resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (32 << 20), limits[1]))
    try:
        while True:
            kept.append(bytearray(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def down(k):
    return 0 if k == 0 else 1 + down(k - 1)


def endless(k):
    return endless(k + 1)


def leave(i):
    sys.exit(3)


def run(n, bad, fail):
    A, log, i = np.zeros(n), [], -1
    try:
        # dlb: parallel
        for i in range(n):
            A[i] = down(50_000 if i % 16 == 0 else 5)
            if i >= bad:
                fail(i)
            log.append(i)
    except (MemoryError, RecursionError, SystemExit) as error:
        print(type(error).__name__, error, i, log == list(range(i)), A[:bad].sum())
    else:
        print("all done", A.sum())
    finally:
        print("finally", i)


for fail in (fill, endless, leave):
    for bad in (2, 41, 99):
        run(64, bad, fail)
