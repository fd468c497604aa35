"""Why something cannot be simulated."""

from __future__ import annotations

from dlbc.diagnostics import Diagnostic
from dlbc.source import Source

__all__ = ["CannotSimulateError", "FaultyProgramError"]


class CannotSimulateError(Exception):
    """The message says what was expected, what was found and what to try; it may have several lines."""


class FaultyProgramError(Exception):
    """The program has errors, which are among the ``diagnostics`` of the ``source``."""

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(source.path)
        self.source = source
        self.diagnostics = diagnostics
