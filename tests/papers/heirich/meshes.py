"""What property tests draw: small meshes, amounts on them, schedules and parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from dlbrt.data.layout import Floats
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from papers.heirich import Boundary, DiffusionStep, Mesh, Schedule

#: Sizes that are stable in any number of dimensions.
ALPHAS = st.sampled_from([0.01, 0.1, 0.15, 0.3])


@dataclass(frozen=True)
class Case:
    """Amounts on a mesh, where they may move (None: everywhere), and how."""

    mesh: Mesh
    work: Floats
    part: NDArray[np.bool_] | None
    schedule: Schedule


@st.composite
def cases(draw: st.DrawFn, *, whole: bool = False) -> Case:
    sides = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    amounts = st.integers(0, 10**6) if whole else st.floats(0, 1e6)
    part = arrays.arrays(np.bool_, sides) if draw(st.booleans()) else st.none()
    return Case(
        Mesh(sides, draw(st.sampled_from(Boundary))),
        draw(arrays.arrays(np.float64, sides, elements=amounts)),
        draw(part),
        draw(schedules(len(sides))),
    )


def schedules(dimensions: int) -> st.SearchStrategy[Schedule]:
    single = ALPHAS.map(lambda alpha: Schedule.every(alpha, dimensions))
    small = DiffusionStep.stable(0.1, dimensions)
    large = st.floats(0.2, 3).map(
        lambda alpha: Schedule((DiffusionStep(alpha, dimensions, 4), *[small] * 12))
    )
    return single | large
