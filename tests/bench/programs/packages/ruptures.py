"""A wavy signal, and measures of partitions, some of which are none."""

from ruptures.datasets import pw_wavy
from ruptures.metrics import hausdorff, randindex
from ruptures.metrics.sanity_check import BadPartitions, sanity_check
from show import show

signal, breaks = pw_wavy(n_samples=120, n_bkps=4, noise_std=0.1, seed=6)
show("wavy", signal)
print(breaks, hausdorff([30, 80, 120], breaks), randindex([30, 80, 120], breaks))
for one, two in (([10, 20], [20]), ([], [20]), ([20], []), ([10, 10, 20], [20]), ([20], [5, 20, 5])):
    try:
        print(sanity_check(one, two))
    except BadPartitions as error:
        print(error)
