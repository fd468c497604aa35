"""Whether the loops of a routine are worth sharing, all of them or none.

A loop of a millisecond loses by being shared: the ranks have to be called, and to meet at its end. But the
arrays of a routine stay on the ranks from loop to loop. If one loop is shared and the next one is not, the
arrays go to and fro between them, so the loops of a routine are shared together or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.records import dataclass

#: Runs on all ranks before a loop is known; the first one distributes the arrays.
_KNOWN_RUNS = 4

#: Of all shared runs, the part that loops must have which are known, before anything is decided.
_KNOWN_PART = 0.8

#: A run that repeats an earlier one costs much less. Where repeats are expected, so many runs are shared
#: before they are awaited no more, and so many repeats are seen before a loop is known.
_AWAITED_RUNS, _REPEATED_RUNS = 24, 4

#: One way has to be this much better than the other to change to it: changing moves the arrays.
_GAIN = 1.1

#: Times are the shortest seen, since others disturb some runs; from run to run one counts so much more.
_AGEING = 1.03

#: Rank 0 alone may take this many times as long as expected; then the others help.
_LONGEST_TRIAL = 2.0


@dataclass(slots=True)
class _Known:
    """What is known of a loop; None: not yet.

    ``shared_s`` are seconds of computing per iteration, ``alone_s`` those that a run by rank 0 takes.
    ``awaited`` are the runs for which one is awaited that is ``repeated``.
    ``largest`` is the part of the computing that the rank with the largest part has, ``overhead_s`` what a
    shared run takes beyond that.
    """

    runs: int = 0
    shared_runs: int = 0
    awaited: int = 0
    repeated: int = 0
    iterations: int = 0
    shared_s: float | None = None
    alone_s: float | None = None
    largest: float = 1.0
    overhead_s: float | None = None

    def together_s(self, iterations: int) -> float:
        """The expected time of a shared run."""
        return (self.overhead_s or 0.0) + self.largest * iterations * (self.shared_s or 0.0)

    def single_s(self, iterations: int) -> float:
        """The expected time of a run by rank 0 alone."""
        found = self.shared_s if self.alone_s is None else self.alone_s
        return iterations * (found or 0.0)


def _shortest(before: float | None, seconds: float) -> float:
    return seconds if before is None else min(seconds, _AGEING * before)


class RoutineSharing:
    """What the runs of a routine's loops have shown, and the decision: ``alone`` or not."""

    def __init__(self) -> None:
        self._loops: dict[str, _Known] = {}
        self.alone = False

    def expect_repeats(self, loop: str) -> None:
        """Runs of the loop may be repeated from now on, without being prepared anew."""
        known = self._loops.setdefault(loop, _Known())
        if not known.repeated and not known.awaited:
            known.awaited = _AWAITED_RUNS

    def learn(
        self,
        loop: str,
        iterations: int,
        compute_s: Sequence[float],
        elapsed_s: float,
        *,
        repeated: int = 0,
    ) -> None:
        """Take in a run of a loop that took ``elapsed_s``, with the computing time of each rank.

        These are means of so many runs that were ``repeated``, if any were.
        """
        known, total = self._loops.setdefault(loop, _Known()), sum(compute_s)
        known.runs += repeated or 1
        if not iterations:
            return
        known.iterations = iterations
        if len(compute_s) == 1:
            known.alone_s = _shortest(known.alone_s, elapsed_s / iterations)
        else:
            known.shared_runs += repeated or 1
            known.repeated += repeated
            known.awaited = 0 if known.repeated >= _REPEATED_RUNS else max(0, known.awaited - 1)
            known.overhead_s = _shortest(known.overhead_s, max(0.0, elapsed_s - max(compute_s)))
            known.shared_s = _shortest(known.shared_s, total / iterations)
            known.largest = max(compute_s) / total if total else 1.0
        self._decide()

    def together_s(self, loop: str, iterations: int) -> float | None:
        """What a shared run of a loop is expected to take; None where it is not known well enough."""
        known = self._loops.get(loop)
        return (
            known.together_s(iterations) if known is not None and known.shared_runs >= _KNOWN_RUNS else None
        )

    def computing_s(self, loop: str, iterations: int) -> float | None:
        """How long the rank with the largest part computes in a shared run; None where there was none."""
        known = self._loops.get(loop)
        if known is None or known.shared_s is None:
            return None
        return known.largest * iterations * known.shared_s

    def trial_s(self, loop: str, iterations: int) -> float | None:
        """How long rank 0 may try to do a loop alone; None where all ranks should take part at once."""
        if not self.alone or loop not in self._loops:
            return None
        known = self._loops[loop]
        return _LONGEST_TRIAL * max(known.single_s(iterations), known.overhead_s or 0.0) or None

    def _decide(self) -> None:
        known = [each for each in self._loops.values() if each.shared_runs >= _KNOWN_RUNS]
        shared_runs = sum(each.shared_runs for each in self._loops.values())
        if any(each.awaited for each in known):
            return
        if not known or sum(each.shared_runs for each in known) < _KNOWN_PART * shared_runs:
            return
        together_s = sum(each.runs * each.together_s(each.iterations) for each in known)
        alone_s = sum(each.runs * each.single_s(each.iterations) for each in known)
        if self.alone:
            self.alone = alone_s < together_s * _GAIN
        else:
            self.alone = alone_s * _GAIN < together_s
