"""A loop of a recorded run (`dlbrt.sim.recorded`), to be played again."""

from __future__ import annotations

from dlbrt.observe.trace import TraceError
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel
from dlbrt.sim.recorded import read

from dlbc.simulate.described import SimulatedLoop
from dlbc.simulate.problems import CannotSimulateError
from dlbc.simulate.request import choose_loop

__all__ = ["recorded_loop"]


def recorded_loop(path: str, wanted: str | None) -> SimulatedLoop:
    """The loop of that number, or the only one there is. CannotSimulateError."""
    try:
        recording = read(path)
    except TraceError as error:
        raise CannotSimulateError(str(error)) from error
    number = choose_loop(path, wanted, {loop.number: loop.source for loop in recording.loops})
    loop = recording.loops[number - 1]
    runs = f"{loop.runs} run{'s' * (loop.runs != 1)}"

    def model(ranks: int) -> LoopModel:
        try:
            return recording.loop(number, ranks)
        except ValueError as error:
            raise CannotSimulateError(f"{path}: {error}") from error

    played = model(recording.ranks)
    work_s = played.costs().of(played.units.all)
    recorded = f"recorded: {runs} on {recording.ranks} ranks, the last under {loop.strategy}"
    iterations = f"iterations: {loop.iterations}, {work_s:.4g} s in all on a processor of speed 1"
    return SimulatedLoop(
        loop.source,
        number,
        (recorded, iterations),
        model,
        machine=recording.machine(),
        network=NetworkDescription.of(recording.network),
        parameters=recording.parameters,
    )
