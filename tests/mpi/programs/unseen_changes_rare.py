"""One iteration changes what iterations share, of the first rank, or of another one; none; or each does."""

import time

import numpy as np
import side_module

change = getattr(side_module, "change_" + "at")  # not to be seen in the text


def rarely(n, at):
    """Only one iteration changes something; it belongs to the first rank, or to another one."""
    seen, total, out, last, kept = [0], 0.0, np.ones(n), None, []
    # dlb: parallel, schedule(none)
    for i in range(n):
        value = change(seen, at, i)
        out[i] = out[i] * 2 + value
        total += value
        kept.append(value)
        if i % 4 == 1:
            last = i
        print("at", i, value)
    return seen, total, out.tolist(), last, i, kept


def always(n):
    """Few iterations, and each of them changes something."""
    seen, out = [0], np.zeros(n)
    # dlb: parallel
    for i in range(n):
        out[i] = change(seen, i, i)
        time.sleep(0.03 if i >= n // 2 else 0.002)  # so that rank 0 takes over work of others
    return seen, out.tolist()


for n in (10, 2):
    print(always(n))
for at in (0, 1, 3, 17, 39, 100):
    print(rarely(40, at))
