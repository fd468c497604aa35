"""What a loop takes and gains, in a line or two for people."""

from __future__ import annotations

from collections.abc import Iterator

from dlbc.commands.annotate.profile import LoopTime, ProgramProfile
from dlbc.commands.annotate.worth import Worth, WorthVerdict
from dlbc.commands.explain.prediction import seconds_text


def amount(number: int, what: str) -> str:
    """Such as ``3 loops``."""
    return f"{number} {what}{'s' * (number != 1)}"


def worth_text(
    worth: Worth, ranks: int, time: LoopTime | None, profile: ProgramProfile | None
) -> Iterator[str]:
    """What the loop takes, then what it gains or from which size on it pays."""
    if time is not None and profile is not None:
        yield from _measured(worth, ranks, time, profile)
    elif worth.verdict is WorthVerdict.BY_SIZE:
        yield _by_size(worth, ranks)
    elif worth.size.seconds is None:
        yield f"{_gain(worth, ranks)}; --profile says more"
    else:
        took = seconds_text(worth.size.seconds)
        run = f"{amount(worth.size.iterations or 0, 'iteration')}, about {took} by W(i)"
        hint = "" if worth.verdict is WorthVerdict.PAYS or worth.never else "; --profile measures it"
        yield f"{run}; {_gain(worth, ranks)}{hint}"


def _measured(worth: Worth, ranks: int, time: LoopTime, profile: ProgramProfile) -> Iterator[str]:
    if not time.runs:
        yield "did not run in the profile"
        return
    took = f"{seconds_text(time.seconds)} of {seconds_text(profile.elapsed_s)} ({profile.share(time):.0%})"
    each = f" of {worth.size.iterations} iterations" if worth.size.iterations is not None else ""
    yield f"{took} in {amount(time.runs, 'run')}{each}; {_gain(worth, ranks)}"
    if worth.verdict is WorthVerdict.PAYS and worth.parallel_s is not None:
        after_s = max(profile.elapsed_s - time.seconds, 0.0) + time.runs * worth.parallel_s
        faster = f"{profile.elapsed_s / after_s:.1f} times as fast"
        yield f"the program then takes about {seconds_text(after_s)}, {faster}"


def _gain(worth: Worth, ranks: int) -> str:
    on = f"on {amount(ranks, 'rank')}"
    if worth.verdict is WorthVerdict.PAYS and worth.gain is not None:
        return f"about {worth.gain:.1f} times as fast {on}"
    if worth.never:
        return f"too small {on} at any size: iterations do too little for what they pass on"
    least = "" if worth.least_s is None else f": a run pays from about {seconds_text(worth.least_s)}"
    return f"too small {on}{least}"


def _by_size(worth: Worth, ranks: int) -> str:
    least = "" if worth.least_s is None else f"from about {seconds_text(worth.least_s)} a run"
    if worth.sizes is not None:
        names = " = ".join(worth.size.missing)
        least = f"from about {names} = {worth.sizes}, {least}"
    ask = " ".join(f"--set {n if n.isidentifier() else repr(n)}=NUMBER" for n in worth.size.missing[:3])
    hint = f"; {ask} or --profile says more" if ask else "; --profile says more"
    return f"pays on {amount(ranks, 'rank')} {least or 'never'}{hint}"
