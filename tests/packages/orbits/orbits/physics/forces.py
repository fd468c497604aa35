import numpy as np

from ..bodies import Body, Kind
from . import pull


def accelerations(bodies: list[Body]):
    out = np.zeros((len(bodies), 2))
    # dlb: parallel, BLOCK
    for i in range(len(bodies)):
        ax = ay = 0.0
        for other in bodies:
            dx = other.position[0] - bodies[i].position[0]
            dy = other.position[1] - bodies[i].position[1]
            f = pull(other.mass, dx * dx + dy * dy)
            if other.kind is Kind.STAR:
                f *= 2
            ax += f * dx
            ay += f * dy
        out[i, 0] = ax
        out[i, 1] = ay
    return out
