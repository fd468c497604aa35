"""What was expected of a run, beside what came: by the model, by the simulator, and of each redistribution.

The agents of the recorded run are made anew and told the same (`dlbrt.sim.replay`); so the strategy that rank
0 chose comes with what the model predicted of each, and each group's books with what it expected to gain.
Besides, the loop is played on the machine that it ran on, under what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.core.model.choose import StrategyChoice
from dlbrt.core.windows import Window
from dlbrt.observe.trace import RunTrace
from dlbrt.records import dataclass
from dlbrt.sim.play import simulate_strategy
from dlbrt.sim.recorded import Recording
from dlbrt.sim.replay import ReplayedRank

__all__ = ["RunPredictions", "replay_predictions", "simulated_s"]


@dataclass(frozen=True, slots=True)
class RunPredictions:
    """What the agents of a run had to say: the choice, if there was one, and the windows of all groups."""

    choice: StrategyChoice | None
    windows: tuple[Window, ...]


def replay_predictions(run: RunTrace) -> RunPredictions:
    """By telling the agents again what they were told; nothing of a run that rank 0 did alone."""
    if run.setup is None or not run.complete:
        return RunPredictions(None, ())
    choice: StrategyChoice | None = None
    windows: list[Window] = []
    for rank, recorded in enumerate(run.per_rank):
        replayed_rank = ReplayedRank(run.setup, rank, recorded.began)
        for event in (e.event for e in recorded.entries if e.event.now >= recorded.began):
            replayed_rank.handle(event)
        windows += (window for account in replayed_rank.accounts for window in account.windows)
        choice = choice or replayed_rank.choice
    return RunPredictions(choice, tuple(sorted(windows, key=lambda window: (window.epoch, window.members))))


def simulated_s(recording: Recording, number: int) -> Iterator[tuple[str, float]]:
    """What each strategy that the runs of the loop were asked for takes in a simulation of it."""
    loop = recording.trace.loops[number - 1]
    if not any(chunk.computing_s for run in loop.runs for rank in run.per_rank for chunk in rank.chunks):
        return
    requested_strategy = dict.fromkeys(
        run.setup.requested_strategy for run in loop.runs if run.setup is not None
    )
    for name in requested_strategy:
        outcome = simulate_strategy(recording.machine(), recording.loop(number), name, recording.parameters)
        yield name, outcome.makespan_s
