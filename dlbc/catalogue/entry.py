"""One row of the catalogue."""

from __future__ import annotations

from dlbrt.records import dataclass

from dlbc.diagnostics import Severity

__all__ = ["CatalogueEntry", "E", "R", "W"]


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One row of the catalogue; ``message`` and ``help`` are `str.format` templates."""

    severity: Severity
    message: str
    help: str = ""


E, W, R = Severity.ERROR, Severity.WARNING, Severity.REMARK
