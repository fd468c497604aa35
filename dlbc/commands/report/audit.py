"""How well a loop was predicted: a sentence, and a table of what was predicted beside what was measured.

The figures are those of the statistics (`dlbrt.observe.statistics`): over all runs in which a strategy was
chosen, recorded or not.
"""

from __future__ import annotations

from collections.abc import Callable

from dlbrt.predict.audit import AuditedFigure, percent_more

from dlbc.commands.report.facts import LoopFacts
from dlbc.commands.report.tables import Table
from dlbc.commands.report.words import about, seconds_text, sentence

_HEADS = ("", "predicted", "measured", "difference")

#: Names of the statistics, what they are called here, and how they are written.
_FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "seconds": ("time of runs with a choice", seconds_text),
    "imbalance": ("imbalance of the first shares, and at the end", lambda percent: f"{percent:.3g} %"),
    "bytes_moved": ("bytes of the work that moved", lambda size: f"{size:.4g}"),
    "gain_s": ("time that redistributions gained", seconds_text),
}


def audit_view(facts: LoopFacts) -> tuple[str, Table | None]:
    """The sentence and the table; empty and None where nothing was predicted."""
    rows = tuple(
        (name, text(figure.predicted), text(figure.measured), percent_more(figure.difference))
        for key, figure in facts.audit
        if key in _FIGURES
        for name, text in [_FIGURES[key]]
    )
    found = dict(facts.audit)
    parts = [_sentence(found["seconds"])] if "seconds" in found else []
    if "imbalance" in found:
        imbalance = found["imbalance"]
        parts.append(f"an imbalance of {imbalance.predicted:.2g} %, was {imbalance.measured:.2g} %")
    text = sentence(f"predicted {'; predicted '.join(parts)}.") if parts else ""
    return text, Table(_HEADS, rows) if rows else None


def _sentence(figure: AuditedFigure) -> str:
    more = percent_more(figure.difference)
    return f"{about(figure.predicted)}, took {about(figure.measured)} ({more})"
