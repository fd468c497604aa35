"""State that the program set before the loop: environment, numpy's settings, a module of its own."""

import decimal
import os
import random
import sys

import numpy as np
import side_module

os.environ["SIDE_FACTOR"] = "7"
np.seterr(divide="raise")
decimal.getcontext().prec = 12
side_module.scale = 11
random.seed(5)
n = 12
out = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    try:
        quotient = str(np.float64(1.0) / np.float64(i - 6))
    except FloatingPointError as error:
        quotient = str(error)
    out[i] = (side_module.scaled(i), os.environ["SIDE_FACTOR"], str(decimal.Decimal(1) / (i + 1)), quotient)
for row in out:
    print(row)
side_module.Gauge.unit = 5
side_module.Gauge.marks.append(2)
side_module.Gauge.shared().value = 7.6
side_module.Gauge.rounded = lambda gauge: gauge.value * 100
side_module.raised.power = 3
for k in range(4):
    side_module.seen_before(k)
side_module.keep(6)
side_module.set_private(9)
side_module.helped = lambda x: -x
gauge = side_module.Gauge.shared()
# dlb: parallel, BLOCK
for i in range(n):
    out[i] = (
        gauge is side_module.Gauge.shared(),
        gauge.read(),
        side_module.raised(i),
        side_module.times_seen(i),
        side_module.times_kept(i),
        side_module.times_private(i),
        side_module.through_helpers(i),
    )
for row in out:
    print(row)
print(random.random(), sys.argv[1:], sys.stdin.read().split())
sys.exit(3)
