"""Positions of a made-up constellation."""

import hashlib

import numpy as np
from sgp4.model import WGS72, Satrec, SatrecArray


def satellite(k):
    sat = Satrec()
    sat.sgp4init(
        WGS72,
        "i",
        k,
        18441.785 + k * 0.01,
        2.8098e-05,
        6.969196665e-13,
        0.0,
        0.1859667 if k % 3 else 0.7,
        5.7904160274885 - 0.02 * k,
        0.5980929187319 + 0.01 * k,
        0.3373093125574,
        0.0472294454407 if k % 4 else 0.0088,
        6.0863854713832 - 0.03 * k,
    )
    return sat


sats = [satellite(k) for k in range(12)]
jd = np.full(30, 2458826.5)
fr = np.linspace(0, 1, 30)
e, r, v = SatrecArray(sats).sgp4(jd, fr)
print(e.sum(), r.tobytes().hex()[:64], repr(r.sum()), repr(np.nan_to_num(v).sum()))
print(hashlib.sha256(r.tobytes() + v.tobytes() + e.tobytes()).hexdigest())
print([sat.t for sat in sats][:4], [sat.error for sat in sats])
