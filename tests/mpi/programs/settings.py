"""Settings of the interpreter and of numpy, own warnings and functions among them; threads; recursion."""

import atexit
import os
import sys
import tempfile
import threading
import warnings

import numpy as np


class OwnWarning(UserWarning):
    pass


def observed(i):
    try:
        warnings.warn("x", OwnWarning, stacklevel=1)
        warned = "shown"
    except OwnWarning:
        warned = "raised"
    return warned, str(np.array([i / 3.0])), sys.getrecursionlimit(), os.getcwd() == HOME, "own" in sys.path


def observe():
    out = [None] * 9
    # dlb: parallel, BLOCK
    for i in range(9):
        out[i] = observed(i)
    print(out)


def total(k):
    A = np.zeros(30)
    # dlb: parallel, BLOCK
    for i in range(30):
        A[i] = i * k
    return float(A.sum())


def nested(depth):
    out = [0] * 3
    # dlb: parallel, BLOCK
    for i in range(3):
        out[i] = i + (sum(nested(depth - 1)) if depth else 1)
    return out


HOME = os.path.realpath(tempfile.gettempdir())
atexit.register(lambda: print("at exit", total(3), flush=True))
warnings.simplefilter("error", OwnWarning)
np.set_printoptions(formatter={"float": lambda x: f"<{x:.2f}>"})
sys.setrecursionlimit(2345)
observe()
os.chdir(HOME)
sys.path.append("own")
warnings.simplefilter("ignore", OwnWarning)
observe()
warnings.simplefilter("error", OwnWarning)
observe()
totals = []
threads = [threading.Thread(target=lambda k=k: totals.append(total(k))) for k in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(totals), nested(2))
gone = tempfile.mkdtemp()
os.chdir(gone)
os.rmdir(gone)
print(total(4))
