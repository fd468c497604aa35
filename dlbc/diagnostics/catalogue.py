"""Every diagnostic code: its severity, its message and its help. Each family of codes has a module.

Codes are stable: DLB0xx files and commands, DLB1xx annotations, DLB2xx loops of an unsupported
form, DLB3xx dependences, DLB4xx effects and calls, DLB5xx the program around the loops. A message
says what was expected and what was found; the help says what to try. `report` fills the fields in braces.
"""

from __future__ import annotations

from dlbc.diagnostics.diagnostic import CatalogueEntry, Diagnostic, RelatedPlace
from dlbc.diagnostics.effect_codes import EFFECTS
from dlbc.diagnostics.loop_codes import LOOPS
from dlbc.diagnostics.program_codes import FRONT
from dlbc.source import SourcePlace

CATALOGUE: dict[str, CatalogueEntry] = FRONT | LOOPS | EFFECTS


def report(
    code: str,
    place: SourcePlace,
    label: str = "",
    notes: tuple[RelatedPlace, ...] = (),
    *,
    case: str = "",
    **fields: object,
) -> Diagnostic:
    """The diagnostic of ``code`` at ``place``, with the help for the ``case`` if the catalogue has one.

    KeyError for an unknown code or a missing field.
    """
    entry = CATALOGUE[code]
    message, help_text = entry.message.format(**fields), entry.cases.get(case, entry.help).format(**fields)
    return Diagnostic(code, entry.severity, place, message, label, help_text, notes)


def help_for(code: str, case: str, **fields: object) -> str:
    """The help of ``code`` in a case; KeyError for a case that it does not have, or a missing field."""
    return CATALOGUE[code].cases[case].format(**fields)
