"""The tunnelling functions of AMPGO, with lists of three, one and no points to avoid."""

import numpy as np
from lmfit._ampgo import inverse_tunnel, tunnel
from show import show


def valley(x, shift):
    return float(np.sum((x - shift) ** 2))


rng = np.random.default_rng(2)
x = rng.normal(size=4)
for count in (3, 1, 0):
    avoided = [rng.normal(size=4) for _ in range(count)]
    show("tunnel", tunnel(x, valley, 0.25, avoided, 1.5))
    show("back", inverse_tunnel(x, 7.5, 0.25, avoided))
