"""How well a run went, in words, and what to change: a pure function of its facts.

Law. Of each run, every second in which ranks did not compute is given to one cause, and each finding says how
many of the program's seconds it is worth at most (`TimeFinding.gain_s`). What it is worth decides the order.

Efficiencies are those of POP (Performance Optimisation and Productivity, "POP Standard Metrics for Parallel
Performance Analysis"): with computing times t_r of P ranks and the elapsed time T,

    parallel efficiency = mean t / T = load balance (mean t / max t) x communication efficiency (max t / T)

Over several runs of loops the sums of mean t, max t and T are taken, since ranks meet at the end of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dlbrt.records import dataclass

from dlbc.commands.report.facts import LoopFacts, ProgramFacts
from dlbc.commands.report.findings import Cause, Efficiency, TimeFinding, efficiency
from dlbc.commands.report.losses import STATED_OFF, is_short, losses_of
from dlbc.commands.report.remedies import remedy
from dlbc.commands.report.slow_ranks import of_speeds
from dlbc.commands.report.words import about, count, part, times

#: What Python takes at least, compared with compiled code: a guess that errs on the low side.
_INTERPRETED = 10.0

#: A finding worth less than this part of the program's time is not the thing to change.
WORTH = 0.03

#: From this factor on costs are not told more exactly: the cheapest iterations take no time to speak of.
_MANY = 100.0

#: Grades of the part of the time that ranks worked, the sequential part included, from the best.
_GRADES = ((0.9, "very well"), (0.75, "well"), (0.5, "moderately well"), (0.0, "poorly"))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The ``headline`` says how well the program ran; ``findings`` come with the costliest first.

    ``efficiency`` is that of all loops, None if nothing was computed in them; ``losses`` are the seconds
    lost by cause, which with the computing time of a mean rank make up the time of the loops.
    """

    headline: str
    efficiency: Efficiency | None
    findings: tuple[TimeFinding, ...]
    losses: tuple[tuple[Cause, float], ...]

    @property
    def advice(self) -> TimeFinding | None:
        """The one thing to change; None if nothing is worth it."""
        return self.findings[0] if self.findings else None


def diagnose(program: ProgramFacts) -> Diagnosis:
    """The diagnosis of a program."""
    found, losses = [], defaultdict[Cause, float](float)
    for loop in program.loops:
        for cause, seconds in losses_of(loop, program).items():
            losses[cause] += seconds
            if (finding := _finding(cause, seconds, loop)) is not None:
                found.append(finding)
        found += of_speeds(loop, program)
        found += _interpreted(loop)
    found += _of_the_program(program)
    worth_s = WORTH * program.elapsed_s
    ordered = sorted((each for each in found if each.gain_s > worth_s), key=lambda each: -each.gain_s)
    of_loops = efficiency([run for loop in program.loops for run in loop.runs])
    lost = sorted(((c, s) for c, s in losses.items() if s > 0), key=lambda each: -each[1])
    return Diagnosis(_headline(program, of_loops), of_loops, tuple(ordered), tuple(lost))


def _headline(program: ProgramFacts, of_loops: Efficiency | None) -> str:
    ranks, took = count(program.ranks, "rank"), about(program.elapsed_s)
    if of_loops is None:
        return f"Nothing was computed in annotated loops: {ranks}, {took}."
    took_s = program.elapsed_s or 1.0
    where = f"{part(min(1.0, program.in_loops_s / took_s))} of it in annotated loops"
    if program.ranks == 1:
        return f"One rank took {took}, {where}."
    computing_s = sum(run.mean_s for loop in program.loops for run in loop.runs)
    worked_s = computing_s + program.sequential_s / program.ranks
    of_all = worked_s / max(worked_s, took_s - program.unrecorded_s)
    grade = next((word for least, word in _GRADES if of_all >= least), _GRADES[-1][1])
    computed = f"in them the ranks computed {part(of_loops.parallel)} of the time"
    said = f"It ran {grade}: {ranks} took {took}, {where}; {computed}."
    alone_s = computing_s * program.ranks + program.sequential_s
    whole_s = program.elapsed_s - program.unrecorded_s + program.startup_s
    if program.emulated or alone_s >= whole_s:
        return said
    less = f"less than the {about(whole_s)} of this run with starting"
    return f"{said} One rank alone would take about {about(alone_s)}, {less}."


def _finding(cause: Cause, seconds: float, loop: LoopFacts) -> TimeFinding | None:
    """The finding of a cause that has lost some time in the loop; None where another place speaks of it."""
    if seconds <= 0 or cause in (Cause.SLOW_RANK, Cause.MEMORY_CLIFF):
        return None
    what = {
        Cause.UNEVEN_COST: _uneven,
        Cause.FEW_ITERATIONS: _few,
        Cause.UNEXPLAINED_WAITING: _waited,
        Cause.SHORT_LOOP: _short,
        Cause.ALONE: _alone,
    }.get(cause)
    share = f"{part(seconds / loop.elapsed_s)} of the loop's time went into {cause.value}"
    return TimeFinding(cause, loop.source, seconds, what(loop) if what else share, remedy(cause.name, loop))


def _waiting_rank(loop: LoopFacts) -> str:
    """The rank that waited longest, and for which part of the loop's time."""
    waited = [sum(run.waited_s[rank] for run in loop.runs) for rank in range(len(loop.runs[0].waited_s))]
    rank = max(range(len(waited)), key=waited.__getitem__)
    return f"rank {rank} waited {part(waited[rank] / loop.elapsed_s)} of the loop's time"


def _uneven(loop: LoopFacts) -> str:
    assert loop.profile is not None
    if loop.profile.misfit > STATED_OFF:
        off = (
            f"W(i), by which iterations were dealt, is off by a factor of up to {times(loop.profile.misfit)}"
        )
        return f"{_waiting_rank(loop)}: {off}"
    growth = loop.profile.growth
    fold = "over 100" if growth > _MANY else times(growth)
    cost = f"iterations cost {fold}-fold more {loop.profile.where}"
    return f"{_waiting_rank(loop)}: {cost}"


def _few(loop: LoopFacts) -> str:
    n = next(run.iterations for run in reversed(loop.runs) if run.shared)
    assert loop.profile is not None
    longest = f"the longest of {count(n, 'iteration')} take about {about(loop.profile.longest_s)} each"
    return f"{_waiting_rank(loop)}: {longest}, and ranks cannot share one"


def _waited(loop: LoopFacts) -> str:
    return f"{_waiting_rank(loop)} for other ranks"


def _short(loop: LoopFacts) -> str:
    alone = [run for run in loop.runs if not run.shared and not run.reason]
    if alone and not is_short([run for run in loop.runs if run.shared]):
        took = about(sum(run.elapsed_s for run in alone))
        kept = f"rank 0 kept {len(alone)} of {count(len(loop.runs), 'run')} for itself ({took} in all)"
        return f"{kept}, which was taken to be quicker than sharing them"
    n, computing = len(loop.runs), sum(sum(run.compute_s) for run in loop.runs)
    runs = f"{count(n, 'run')} of {about(loop.elapsed_s / n)}"
    return f"the loop is too short to share: {runs}, with {about(computing / n)} of computing in each"


def _alone(loop: LoopFacts) -> str:
    return f"rank 0 ran the loop alone: {next(run.reason for run in loop.runs if run.reason)}"


def _interpreted(loop: LoopFacts) -> Iterator[TimeFinding]:
    left = [run for run in loop.runs if run.interpreted]
    if left:
        gain = sum(max(run.compute_s) for run in left) * (1 - 1 / _INTERPRETED)
        what = f"the loop ran as Python, though `jit` was asked for: {left[-1].interpreted}"
        yield TimeFinding(Cause.INTERPRETED, loop.source, gain, what, remedy(Cause.INTERPRETED.name, loop))


def _of_the_program(program: ProgramFacts) -> Iterator[TimeFinding]:
    if program.ranks > 1 and program.sequential_s > 0:
        gain = program.sequential_s * (1 - 1 / program.ranks)
        share = part(program.sequential_s / program.elapsed_s)
        what = f"for {share} of the time only rank 0 worked, in the sequential part of the program"
        yield TimeFinding(Cause.SEQUENTIAL, "", gain, what, remedy(Cause.SEQUENTIAL.name))
