"""What each program does around its kernel: it reads the sizes, times the kernel and prints a digest.

    python tests/polybench/KERNEL.py [MINI | SMALL | MEDIUM | LARGE | SIZES...]

A kernel takes the values that ``initial(*sizes)`` returns and returns its results, one array or several. With
``DLB_BENCH=K`` in the environment it is called K times more, each time on values made anew, and each call's
seconds go to standard error: of the first as ``first``, compilation included, of the others as ``seconds``.
"""

import hashlib
import os
import sys
import time

import numpy as np

__all__ = ["run", "seconds_of", "sizes_of"]


def run(kernel, initial, sizes):
    """The program: the kernel on the sizes that the command line names."""
    chosen = sizes_of(sys.argv[1:], sizes)
    results, first = seconds_of(kernel, initial, chosen)
    if "DLB_BENCH" in os.environ:
        print(f"first {first:.9f}", file=sys.stderr)
        for _ in range(int(os.environ["DLB_BENCH"])):
            print(f"seconds {seconds_of(kernel, initial, chosen)[1]:.9f}", file=sys.stderr)
    for number, array in enumerate(results if isinstance(results, tuple) else (results,)):
        flat = np.ascontiguousarray(array).reshape(-1)
        some = " ".join(str(value) for value in flat[:: len(flat) // 4 + 1].tolist())
        print(
            f"{number} {array.shape} {array.dtype} {hashlib.sha256(flat.tobytes()).hexdigest()[:16]} {some}"
        )


def sizes_of(words, sizes):
    """Sizes by the name of a data set, or as numbers; without either those of MINI."""
    if not words or words[0] in sizes:
        return sizes[words[0] if words else "MINI"]
    return tuple(int(word) for word in words)


def seconds_of(kernel, initial, sizes):
    """What the kernel returns on values made anew, and the seconds that it takes."""
    values = initial(*sizes)
    start = time.perf_counter()
    results = kernel(*values)
    return results, time.perf_counter() - start
