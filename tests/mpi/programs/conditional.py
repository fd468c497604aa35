"""Temporaries set in some iterations only, none at all, in blocks and dealt in turn; empty loops."""

n = 41
out = [0] * n


def run(dealt, limit):
    # dlb: parallel, BLOCK
    for i in range(limit):
        if i % 7 == 3:
            seen = i * 10
        out[i] = i
    try:
        return i, seen
    except NameError as error:
        return type(error).__name__


def dealt(limit):
    # dlb: parallel, CYCLIC
    for i in range(limit):
        if i % 5 == 2:
            seen = i * 10
        out[i] = -i
    try:
        return i, seen
    except NameError as error:
        return type(error).__name__


for limit in (0, 1, 3, 4, 25, 41):
    print(run("block", limit), dealt(limit), sum(out))
