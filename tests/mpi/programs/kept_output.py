"""Standard output by its other name, and warnings that the program shows or collects itself."""

import sys
import warnings

import numpy as np

SIZE = 30


def by_its_other_name():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("step", i)
        print("again", i, file=sys.__stdout__, flush=True)
        out[i] = i
    print(out.sum())


def warned():
    """Warnings of one place are shown once, by the program's own function."""

    def show(message, category, *_):
        print("warned:", category.__name__, message)

    out, before = np.zeros(SIZE), warnings.showwarning
    warnings.showwarning = show
    # dlb: parallel
    for i in range(SIZE):
        out[i] = np.log(np.float64(i - 20))
    warnings.showwarning = before
    print(np.isnan(out).sum())


def collected():
    out = np.zeros(SIZE)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        # dlb: parallel
        for i in range(SIZE):
            out[i] = np.log(np.float64(i - 20))
    print(len(found), np.isnan(out).sum())


class Reporter:
    def __init__(self, number):
        self.number, self.out = number, sys.stdout

    def say(self):
        self.out.write(f"report {self.number}\n")


def by_objects():
    reporters = [None] * 5
    # dlb: parallel
    for i in range(5):
        reporters[i] = Reporter(i)
    for reporter in reporters:
        reporter.say()
    print("and that is all")


by_its_other_name()
warned()
collected()
by_objects()
