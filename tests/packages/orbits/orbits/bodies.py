from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    STAR = 1
    PLANET = 2


@dataclass
class Body:
    name: str
    mass: float
    position: list = field(default_factory=lambda: [0.0, 0.0])
    kind: Kind = Kind.PLANET

    @property
    def heavy(self):
        return self.mass > 3 or self.kind is Kind.STAR


def make_bodies(n):
    bodies = [None] * n
    # dlb: parallel, BLOCK
    for i in range(n):
        kind = Kind.STAR if i % 5 == 0 else Kind.PLANET
        bodies[i] = Body(f"b{i}", 1.0 + i % 4, [i * 0.5, (i * i) % 7 * 0.25], kind)
    return bodies
