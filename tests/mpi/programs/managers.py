# ruff: noqa: F403, F405
"""Loops inside `with` over a `@contextmanager` whose value the body or the program reads."""

import contextlib
import time
from contextlib import contextmanager
from math import *

import numpy as np

log = []


@contextmanager
def timer(label):
    box = {"label": label}
    start = time.perf_counter()
    yield box
    box["t"] = time.perf_counter() - start


@contextlib.contextmanager
def section(name):
    log.append("enter " + name)
    try:
        yield [len(name), 2]
    finally:
        log.append("exit " + name)


@contextmanager
def tolerant():
    try:
        yield
    except ValueError as error:
        print("caught", error)


n = 12
x = np.zeros(n)
with timer("a") as t:
    # dlb: parallel
    for i in range(n):
        x[i] = sqrt(i) + pi
print(x, t["t"] >= 0, t["label"])
with section("abc") as s, timer("b") as t:
    # dlb: parallel
    for i in range(n):
        x[i] = i * s[0] + len(s) + len(t["label"])
print(x, s, log)
with tolerant():
    # dlb: parallel
    for i in range(n):
        x[i] = -i
        if i == 5:
            raise ValueError(i)
print(x[:5])


def run(m):
    y = [0] * m
    with section("in run") as parts:
        # dlb: parallel
        for i in range(m):
            y[i] = sum(parts) * i
    return y


print(run(9), log)
