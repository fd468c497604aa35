from . import mutual_a

BASE = 100


def pong(i):
    return BASE + i if i else len(mutual_a.__name__)


def loud(n):
    # dlb: parallel
    for i in range(n):
        print("pong", i, pong(i))
