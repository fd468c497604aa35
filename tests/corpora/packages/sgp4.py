"""Orbits of satellites (sgp4: model.Satrec.sgp4_array, model.SatrecArray.sgp4, ext.rv2coe)."""

from math import cos, sin, sqrt

import numpy as np


class Satellite:
    """A record that keeps, as there, the error of its last position in itself."""

    def __init__(self, axis, motion, phase):
        self.axis = axis
        self.motion = motion
        self.phase = phase
        self.error = 0

    def sgp4(self, jd, fr):
        angle = self.phase + self.motion * ((jd - 2458000.5) + fr)
        self.error = 1 if self.axis * (1 - 0.01 * sin(angle)) < 1.0 else 0
        r = (self.axis * cos(angle), self.axis * sin(angle), 0.1 * sin(2 * angle))
        v = (-self.motion * r[1], self.motion * r[0], 0.0)
        return self.error, r, v

    def sgp4_array(self, jd, fr):
        """One satellite at many times."""
        results = []
        z = list(zip(jd, fr))
        # Not legal: each iteration leaves its `error` in the one satellite.
        # dlb: parallel, BLOCK
        for jd_i, fr_i in z:
            results.append(self.sgp4(jd_i, fr_i))
        return results


def positions(satellites, jd, fr):
    """Many satellites at many times."""
    results = []
    z = list(zip(jd, fr))
    # dlb: parallel, BLOCK
    for satellite in satellites:
        for jd_i, fr_i in z:
            results.append(satellite.sgp4(jd_i, fr_i))
    elist, rlist, vlist = zip(*results)
    count = len(satellites), len(jd)
    return (
        np.array(elist).reshape(count),
        np.array(rlist).reshape(*count, 3),
        np.array(vlist).reshape(*count, 3),
    )


def eccentricities(r, v):
    """The eccentricity vector of each position and velocity, a component at a time."""
    result = np.zeros(len(r))
    # dlb: parallel, BLOCK
    for k in range(len(r)):
        distance = sqrt(sum(x * x for x in r[k]))
        c1 = sum(x * x for x in v[k]) - 1.0 / distance
        rdotv = sum(x * y for x, y in zip(r[k], v[k]))
        ebar = [0.0, 0.0, 0.0]
        for i in range(0, 3):
            ebar[i] = c1 * r[k][i] - rdotv * v[k][i]
        result[k] = sqrt(sum(x * x for x in ebar))
    return result


satellites = [Satellite(1.0 + k / 10, 2.0 + k, 0.3 * k) for k in range(6)]
jd, fr = np.full(4, 2458001.5), np.arange(4) / 4
e, r, v = positions(satellites, jd, fr)
print(e.tolist(), r.tolist(), v.tolist(), [s.error for s in satellites])
print(satellites[2].sgp4_array(jd, fr), satellites[2].error)
print(eccentricities(r[:, 0], v[:, 0]).tolist())
