"""What is written to descriptor 1 past `sys.stdout` comes out between what is printed, in iteration order."""

import pathlib
import sys
import tempfile

import numpy as np

SIZE = 40
LIBRARY = """
import ctypes, os, subprocess, sys

C, say = ctypes.CDLL(None), sys.stdout.write

def direct(i):
    os.write(1, f"direct {i}\\n".encode())

def child(i):
    subprocess.run(["echo", "child", str(i)], check=True)

def in_c(i):
    C.puts(f"in C {i}".encode())
    C.fflush(None)

def by_method(i):
    say(f"said {i}\\n")
"""
place = tempfile.TemporaryDirectory()
pathlib.Path(place.name, "installed.py").write_text(LIBRARY)
sys.path.insert(0, place.name)

import installed  # noqa: E402


def each():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("before", i, flush=True)
        installed.direct(i)
        out[i] = i
        print("after", i, flush=True)
    print(out.sum(), flush=True)


def rarely_direct():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("step", i, flush=True)
        if i % 13 == 12:
            installed.direct(i)
            print("and on", i, flush=True)
        out[i] = i
    print(out.sum(), flush=True)


def rarely_a_child():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        if i % 17 == 16:
            installed.child(i)
        out[i] = i
    print(out.sum(), flush=True)


def rarely_in_c():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        if i % 11 == 9:
            installed.in_c(i)
            installed.in_c(-i)
        out[i] = i
    print(out.sum(), flush=True)


def rarely_by_a_method():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("step", i)
        if i % 12 == 11:
            installed.by_method(i)
        out[i] = i
    print(out.sum(), flush=True)


def failing():
    out = np.zeros(SIZE)
    try:
        # dlb: parallel
        for i in range(SIZE):
            if i > 20:
                installed.direct(i)
            out[i] = 1 / (i - 23)
    except ZeroDivisionError as error:
        print(error, flush=True)
    print(out[:23].tolist(), flush=True)


def flushed():
    """What iterations flush is out before what comes after the loop."""
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("line", i, flush=i == SIZE - 1)
        out[i] = i
    installed.direct("afterwards")
    # dlb: parallel
    for i in range(SIZE):
        print("held back until the end", i)
        out[i] = -i
    installed.direct("before")
    sys.stdout.flush()


each()
rarely_direct()
rarely_a_child()
rarely_in_c()
rarely_by_a_method()
failing()
flushed()
