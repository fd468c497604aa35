"""The demonstration signals that are sums of bumps and steps."""

import pywt.data
from show import show

for name in ("Blocks", "Bumps", "WernerSorrows"):
    show(name, pywt.data.demo_signal(name, 256))
