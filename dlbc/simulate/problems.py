"""Why something cannot be simulated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dlbc.diagnostics import Diagnostic
from dlbc.source import Source

__all__ = ["CannotSimulateError", "FaultyProgramError", "Problems"]


class CannotSimulateError(Exception):
    """The message says what was expected, what was found and what to try; it may have several lines."""


class FaultyProgramError(Exception):
    """The program has errors, which are among the ``diagnostics`` of the ``source``.

    ``besides`` is what else is wrong with what was asked, as the message of a CannotSimulateError.
    """

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...], besides: str = "") -> None:
        super().__init__(source.path)
        self.source = source
        self.diagnostics = diagnostics
        self.besides = besides


class Problems:
    """Collects what cannot be, so that all of it is said at once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A part that may raise CannotSimulateError, which is kept."""
        try:
            yield
        except CannotSimulateError as error:
            self._found.append(str(error))
        except FaultyProgramError as error:
            raise FaultyProgramError(error.source, error.diagnostics, "\n".join(self._found)) from error

    def end(self) -> None:
        """CannotSimulateError with all that was kept, if anything."""
        if self._found:
            raise CannotSimulateError("\n".join(self._found))
