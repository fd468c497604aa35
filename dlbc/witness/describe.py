"""The report of a witness run, in the form of our diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from dlbc.diagnostics import excerpt
from dlbc.source import Source
from dlbc.witness.record import APPEND, INSERT, READ, READ_STORE, STORE, IterationConflict, RecordedAccess
from dlbc.witness.watch import AccessMonitor

__all__ = ["describe"]

_VERBS = {
    READ: ("read", "reads"),
    STORE: ("stored to", "stores to"),
    READ_STORE: ("read and stored to", "reads and stores to"),
    APPEND: ("added to", "adds to"),
    INSERT: ("stored to", "stores to"),
}
_UPDATE = ("updated", "updates")


def describe(watch: AccessMonitor, source: Source, ending: str) -> str:
    """All findings, then what was watched and what was not. ``ending``: how the program failed, if it did."""
    lines = [line for _, conflict in sorted(watch.conflicts.items()) for line in _conflict(conflict)]
    return "\n".join([*lines, *_summary(watch, source, ending)])


def _conflict(conflict: IterationConflict) -> Iterator[str]:
    earlier, later = conflict.earlier, conflict.later
    one, other = conflict.iterations
    place = later.site.place
    yield (
        f"{later.site.source.path}:{place.line}:{place.column}: conflict: "
        f"iterations {one} and {other} share {conflict.element}"
    )
    yield from _side(later, f"iteration {other} {_verb(later, 1)} it", "^")
    if earlier.site.source.path != later.site.source.path:
        at = earlier.site.place
        yield f"{earlier.site.source.path}:{at.line}:{at.column}:"
    yield from _side(earlier, f"iteration {one} {_verb(earlier, 0)} it before", "-")
    run = f", in its run number {conflict.run}" if conflict.run > 1 else ""
    yield f"  in the parallel loop of line {conflict.loop.place.line}{run}"


def _side(access: RecordedAccess, label: str, mark: str) -> list[str]:
    return excerpt(access.site.source, access.site.place, label, mark)


def _verb(access: RecordedAccess, tense: int) -> str:
    return _VERBS.get(access.kind, _UPDATE)[tense]


def _summary(watch: AccessMonitor, source: Source, ending: str) -> Iterator[str]:
    if not watch.loops:
        yield f"{source.path}: no parallel loop to watch"
    else:
        yield f"{source.path}: {_verdict(watch)}; watched: {_extent(watch)}"
    for number, loop in enumerate(watch.loops):
        if loop.unwatched:
            yield f"  not watched: the loop of line {loop.place.line}, {loop.unwatched}"
        elif number not in watch.runs:
            yield f"  not watched: the loop of line {loop.place.line}, which did not run"
    for what, site in watch.unwatched.items():
        yield f"  not watched: {what}, line {site.place.line}"
    if ending:
        yield f"  the program ended with {ending}"


def _verdict(watch: AccessMonitor) -> str:
    found = len(watch.conflicts)
    if not found:
        return "no conflict between iterations"
    return f"{_count(found, 'loop')} of {len(watch.loops)} with a conflict"


def _extent(watch: AccessMonitor) -> str:
    words = [_count(len(watch.runs), "loop"), _count(sum(watch.runs.values()), "run")]
    return ", ".join(
        [*words, _count(watch.iterations_watched, "iteration"), _count(watch.accesses, "access", "es")]
    )


def _count(number: int, word: str, plural: str = "s") -> str:
    return f"{number} {word}{'' if number == 1 else plural}"
