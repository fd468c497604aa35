"""Names that have no value: no error where no iteration reads them, else one of the iteration that does."""

import sys
import traceback

import numpy as np

A = np.zeros(12)


def tb():
    e = sys.exception()
    return (
        type(e).__name__,
        str(e),
        [(f.lineno, f.name, f.line) for f in traceback.extract_tb(e.__traceback__)][-1],
    )


def unread(n, flag):
    if flag:
        scale = 2.0
    # dlb: parallel
    for i in range(n):
        if i > 100:
            A[i] = scale
        else:
            A[i] = i
    return A[:n].sum()


print("a", unread(12, False), unread(12, True))


def rare(n, at):
    A[:] = 0
    if at > 100:
        scale = 2.0
    out = []
    t = -1
    try:
        # dlb: parallel
        for i in range(n):
            t = i * 2
            print("it", i)
            out.append(i)
            if i == at:
                A[i] = scale
            else:
                A[i] = i + 1
    except NameError:
        print(tb(), i, t, out, A[: at + 1].tolist())
    else:
        print("none", i, t, out, A.tolist())


rare(12, 7)
rare(12, 0)
rare(12, 11)
rare(12, 50)


def red(n, at):
    if at > 100:
        s = 0
    t = None
    try:
        # dlb: parallel
        for i in range(n):
            t = i
            if i >= at:
                s += i
    except NameError:
        print(tb(), i, t)
    else:
        print("fine", i, t)


red(12, 5)
red(12, 50)


def elsewhere(n, at):
    if at > 100:
        L = []
    t = None
    try:
        # dlb: parallel
        for i in range(n):
            t = i
            if i >= at:
                L.append(i)
    except NameError:
        print(tb(), i, t)
    else:
        print("fine", i, t)


elsewhere(12, 5)
elsewhere(12, 50)


def array(n, at):
    if at > 100:
        B = np.zeros(12)
    t = None
    try:
        # dlb: parallel
        for i in range(n):
            t = i
            if i >= at:
                B[i] = i
    except NameError:
        print(tb(), i, t)
    else:
        print("fine", i, t)


array(12, 5)
array(12, 50)


def dele(n):
    q = 3
    del q
    try:
        # dlb: parallel
        for i in range(n):
            A[i] = i
            if i == 4:
                A[i] = q
    except NameError:
        print(tb(), i, A[:5])


dele(12)

scales = 3
try:
    # dlb: parallel
    for i in range(12):
        A[i] = i
        if i == 5:
            A[i] = scale
except NameError as e:
    print(tb(), i, A[:6], e.name)
# dlb: parallel
for i in range(12):
    A[i] = i
    if i == 5:
        A[i] = scale  # noqa: F821

# A body's `_` is a variable like any other.
totals = np.zeros(4)
# dlb: parallel
for i in range(4):
    for _ in range(9):
        totals[i] += 1
print(i, _, totals)
# dlb: parallel
for i, x in enumerate(totals):
    _, x = divmod(x, 2)
    totals[i] = x
print(i, _, x, totals)
