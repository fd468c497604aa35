"""Lines that iterations print, which appear as soon as all iterations before are done, or at the end."""

import sys
import time

import numpy as np

SIZE = 60


def worked(i):
    time.sleep(2e-4 * (i * 7 % 5))
    return i * 0.5


def plain(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        print("begun", i, end="; ")
        A[i] = worked(i)
        print("done", i)
    print("plain", A.sum())


def sparse(n, first):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = worked(i)
        if i % 7 == 3 and i >= first:
            print("sparse", i)
    print("sparse", A.sum())


def dealt(n):
    A = np.zeros(n)
    # dlb: parallel, CYCLIC
    for i in reversed(range(n)):
        A[i] = worked(i)
        print("dealt", i)
    print("dealt", A.sum())


def triangle(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK, fold
    for i in range(n):
        for j in range(i):
            A[i] += j * 0.5
        print("triangle", i, A[i])
    print("triangle", A.sum())


def in_bytes(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = worked(i)
        sys.stdout.write(f"text {i} ")
        sys.stdout.buffer.write(b"bytes %d\n" % i)
        sys.stdout.flush()
    print("in_bytes", A.sum())


def long_lines(n):
    A = np.zeros(n)
    # dlb: parallel, CYCLIC
    for i in range(n):
        A[i] = worked(i)
        print("long" * 30_000, i)
    print("long_lines", A.sum())


def fails(n, at):
    A = np.zeros(n)
    try:
        # dlb: parallel, BLOCK
        for i in range(n):
            print("tried", i, end=" ")
            A[i] = worked(i) + 10 // (i % at - at + 1)
            print("done", i)
    except ZeroDivisionError as error:
        print("failed:", error, A[: at - 1].sum())


def dealt_fails(n, at):
    A = np.zeros(n)
    try:
        # dlb: parallel, CYCLIC
        for i in range(n):
            A[i] = worked(i)
            print("before", i)
            if i in (at, at + 3):
                raise LookupError(i)
            print("after", i)
    except LookupError as error:
        print("failed:", error, A[:at].sum())


def cannot_be_shown(n, at):
    A = np.zeros(n)
    try:
        # dlb: parallel, BLOCK
        for i in range(n):
            A[i] = worked(i)
            print("shown", i, end=" ")
            print("\ud800" if i == at else "\u00fc" if i % 2 else "and on")
    except UnicodeEncodeError as error:
        print("failed:", error.reason, A[:at].sum())


def contributed(n, at):
    total, items = 0.0, []
    try:
        # dlb: parallel, BLOCK
        for i in range(n):
            print("before", i)
            items.append(i)
            total += None if i == at else worked(i)
            print("after", i)
    except TypeError as error:
        print("failed:", error)
    print("contributed", total, items)


def counted(i):
    yield from range(i % 3)


def kept(n):
    out = [None] * n
    # dlb: parallel, BLOCK
    for i in range(n):
        out[i] = counted(i)
        print("kept", i)
    print("kept", [list(each) for each in out])


def often(n):
    for again in range(12):
        A = np.zeros(n)
        # dlb: parallel, BLOCK
        for i in range(n):
            A[i] = i + again
            print(again, i)
    print("often", A.sum())


plain(SIZE)
sparse(SIZE, 0)
sparse(SIZE, 2 * SIZE // 3)
dealt(SIZE)
triangle(SIZE)
in_bytes(SIZE)
long_lines(SIZE // 3)
fails(SIZE, 31)
dealt_fails(SIZE, 40)
cannot_be_shown(SIZE, 25)
contributed(SIZE, -1)
contributed(SIZE, 33)
kept(SIZE)
kept(SIZE // 2)
often(SIZE)
plain(2)
plain(0)
