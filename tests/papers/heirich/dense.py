"""The method written out processor by processor, with lists of links: slow, and sharing no line of code."""

from __future__ import annotations

from itertools import product

import numpy as np
from dlbrt.data.layout import Floats
from papers.heirich import DiffusionStep, Mesh, Schedule

Link = tuple[int, int]


def links(mesh: Mesh) -> list[Link]:
    """Real links between processors by number, double ones twice."""
    found = []
    places = list(product(*map(range, mesh.sides)))
    number = {place: k for k, place in enumerate(places)}
    for place in places:
        for axis, side in enumerate(mesh.sides):
            beyond = place[axis] + 1
            if beyond < side or (mesh.periodic and side > 1):
                other = (*place[:axis], beyond % side, *place[axis + 1 :])
                found.append((number[place], number[other]))
    return found


def one_step(mesh: Mesh, step: DiffusionStep, open_links: list[Link]) -> Floats:
    """What a step does to amounts, as a matrix; neighbours over links that are not open count as oneself."""
    n = mesh.processors
    adjacency = np.zeros((n, n))
    for one, other in open_links:
        adjacency[one, other] += 1
        adjacency[other, one] += 1
    degree = adjacency.sum(axis=1)
    around = adjacency + np.diag(2 * mesh.dimensions - degree)
    inner = np.eye(n)
    for _ in range(step.iterations):
        inner = (np.eye(n) + step.alpha * around @ inner) / (1 + step.y)
    return np.eye(n) - step.alpha * (np.diag(degree) - adjacency) @ inner


def step_matrix(mesh: Mesh, schedule: Schedule, open_links: list[Link]) -> Floats:
    """What a cycle does to amounts, likewise."""
    found = np.eye(mesh.processors)
    steps = {step: one_step(mesh, step, open_links) for step in schedule.steps}
    for step in schedule.steps:
        found = steps[step] @ found
    return found
