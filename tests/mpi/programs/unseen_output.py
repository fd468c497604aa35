"""What is written to descriptor 1 past `sys.stdout` comes out between what is printed, in iteration order."""

import sys

import numpy as np
import side_output

SIZE = 40


def each():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("before", i, flush=True)
        side_output.direct(i)
        out[i] = i
        print("after", i, flush=True)
    print(out.sum(), flush=True)


def rarely_direct():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("step", i, flush=True)
        if i % 13 == 12:
            side_output.direct(i)
            print("and on", i, flush=True)
        out[i] = i
    print(out.sum(), flush=True)


def rarely_a_child():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        if i % 17 == 16:
            side_output.child(i)
        out[i] = i
    print(out.sum(), flush=True)


def rarely_in_c():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        if i % 11 == 9:
            side_output.in_c(i)
            side_output.in_c(-i)
        out[i] = i
    print(out.sum(), flush=True)


def failing():
    out = np.zeros(SIZE)
    try:
        # dlb: parallel
        for i in range(SIZE):
            if i > 20:
                side_output.direct(i)
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
    side_output.direct("afterwards")
    # dlb: parallel
    for i in range(SIZE):
        print("held back until the end", i)
        out[i] = -i
    side_output.direct("before")
    sys.stdout.flush()


each()
rarely_direct()
rarely_a_child()
rarely_in_c()
failing()
flushed()
