"""Every diagnostic code: its severity, its sentence, its help. Adding a diagnostic is a row here.

Codes are stable: DLB0xx files and commands, DLB1xx annotations, DLB2xx loops of an unsupported
form, DLB3xx dependences, DLB4xx effects and calls, DLB5xx the program around the loops. Sentences
say what was expected and what was found; help says what to try. Fields in braces are filled by `report`.
One module for each family of codes.
"""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, Diagnostic, RelatedPlace
from dlbc.diagnostics.effect_codes import EFFECTS
from dlbc.diagnostics.loop_codes import LOOPS
from dlbc.diagnostics.program_codes import FRONT
from dlbc.source import SourcePlace

CATALOGUE: dict[str, CatalogueEntry] = FRONT | LOOPS | EFFECTS


def report(
    code: str, place: SourcePlace, label: str = "", notes: tuple[RelatedPlace, ...] = (), **fields: object
) -> Diagnostic:
    """The diagnostic of ``code`` at ``place``; raises KeyError for an unknown code or a missing field."""
    entry = CATALOGUE[code]
    return Diagnostic(
        code,
        entry.severity,
        place,
        entry.message.format(**fields),
        label,
        entry.help.format(**fields),
        notes,
    )
