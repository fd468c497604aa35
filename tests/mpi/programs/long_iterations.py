"""Iterations longer than others wait for an answer: what is given meanwhile, and what programs see of it."""

import decimal
import time
from unittest import mock

import numpy as np


class Quotient:
    def __init__(self, k):
        self.value = decimal.Decimal(1) / (k + 3)

    def __getstate__(self):
        return {"value": self.value * 1}  # rounds by the context of the thread


def pause(i):
    time.sleep(0.004 + 0.04 * (i % 5 == 2))


def rows(A, B):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        pause(i)
        B[i] = A[i] * 2.0
        A[i] += i


def with_hooks(quotients, out):
    # dlb: parallel, BLOCK
    for i in range(len(quotients)):
        pause(i)
        out[i] = quotients[i].value


def calls_seen(i):
    end = time.perf_counter() + 0.03 * (i % 5 == 2)
    with mock.patch("time.sleep") as pretended:
        while time.perf_counter() < end:
            pass
        time.sleep(5)
    return pretended.call_count


def patched(A):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        A[i] += calls_seen(i)


def failing(A):
    # dlb: parallel, BLOCK
    for i in range(len(A)):
        pause(i)
        A[i] = 10.0 / (i - 9)


A, B = np.arange(42.0).reshape(14, 3), np.zeros((14, 3))
rows(A, B)
print(A.tolist(), B.tolist())
decimal.getcontext().prec = 50
quotients, out = [Quotient(k) for k in range(14)], [None] * 14
with_hooks(quotients, out)
print(out)
counts = np.zeros(14)
patched(counts)
print(counts.tolist())
A = np.zeros(14)
try:
    failing(A)
except ZeroDivisionError as error:
    print(error)
print(A[:9].tolist())
