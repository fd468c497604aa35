"""Finalizers run once, when they would: in the loop, after it, at the end of the program."""

import atexit

import numpy as np


class R:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


atexit.register(lambda: print("atexit 1"))
A = np.zeros(12)


def temps(n):
    # dlb: parallel
    for i in range(n):
        r = R(i)
        A[i] = r.n
    print("after", r.n)


def items(n):
    out = [None] * n
    # dlb: parallel
    for i in range(n):
        out[i] = R(i)
    print("have", len(out))
    del out


def local(n):
    # dlb: parallel
    for i in range(n):
        A[i] = R(i).n
    print("local")


def unread(n):
    # dlb: parallel
    for i in range(n):
        r = R(i)
        A[i] = r.n
    print("unread")


def outer(n):
    r = R(100)
    # dlb: parallel
    for i in range(n):
        A[i] = r.n + i
    del r
    print("outer")


def app(n):
    L = []
    # dlb: parallel
    for i in range(n):
        L.append(R(i))
    print("L", len(L))


for f in (temps, items, local, unread, outer, app):
    print(f.__name__)
    f(6)
# dlb: parallel
for i in range(4):
    r = R(i)
    A[i] = r.n
print("module", r.n)
del r
print("deleted")
out = [None] * 4
# dlb: parallel
for i in range(4):
    out[i] = R(i)
out.clear()
print("cleared")
objects = [R(k) for k in range(3)]
# dlb: parallel
for o in objects:
    A[o.n] = o.n
del objects, o
print("gone")
# dlb: parallel
for i in range(3):
    last = R(i)
    A[i] = last.n
print("still there")
keep = R(99)
atexit.register(print, "atexit 2")
print("end")
