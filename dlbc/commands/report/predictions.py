"""What was predicted of a recorded run: by the model at the choice, for each redistribution, by simulation.

The agents of the run are made anew and handle the same events (`dlbrt.sim.replay`): this gives the model's
prediction for each strategy when rank 0 chose one, and the gain that each group expected of each
redistribution. In addition, the loop is simulated on the machine that it ran on, as it was requested.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.balance.messages import Window
from dlbrt.observe.trace import RunTrace
from dlbrt.predict.choose import StrategyChoice
from dlbrt.records import dataclass
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.recorded import Recording
from dlbrt.sim.replay import ReplayedRank


@dataclass(frozen=True, slots=True)
class RunPredictions:
    """What the agents of a run predicted: the choice, if there was one, and the windows of all groups."""

    choice: StrategyChoice | None
    windows: tuple[Window, ...]


def replay_predictions(run: RunTrace) -> RunPredictions:
    """The predictions, by replaying the recorded events; none for a run that rank 0 did alone."""
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
    """The simulated makespan of a loop under each strategy that its runs requested."""
    loop = recording.trace.loops[number - 1]
    if not any(chunk.computing_s for run in loop.runs for rank in run.per_rank for chunk in rank.chunks):
        return
    for name in dict.fromkeys(run.setup.requested_strategy for run in loop.runs if run.setup is not None):
        outcome = simulate_strategy(recording.machine(), recording.loop(number), name, recording.parameters)
        yield name, outcome.makespan_s
