"""Arrays that the program resizes after loops that read them whole, also where it ignores interrupts."""

import signal

import numpy as np

n = 40
sums = np.zeros(n)
values = np.arange(2000.0)
for interrupt in (signal.default_int_handler, signal.SIG_IGN):
    signal.signal(signal.SIGINT, interrupt)
    for size in (2000, 3000, 2500, 2500):
        values.resize(size)
        # dlb: parallel, WHOLE(values)
        for i in range(n):
            sums[i] += values[i] + values[-1 - i] + values.sum()
        values[::7] += size
        print(size, sums.tolist())
