"""Interpreter state that the program set before a loop and that holds on every rank during it."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np

from dlbrt.records import dataclass

__all__ = ["InterpreterState", "LibrarySettings", "ProcessEnvironment", "capture"]


@dataclass(frozen=True)
class ProcessEnvironment:
    """What modules may read when they are imported: environment, directory, where modules are found.

    ``environ`` is as the interpreter holds it, encoded, because decoding it at each call costs more than
    all the rest.
    """

    environ: dict[Any, Any]
    directory: str
    path: list[str]

    def apply(self) -> None:
        """Put them in force here."""
        if _environ() != self.environ:
            os.environ.clear()
            os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in self.environ.items()})
        os.chdir(self.directory)
        sys.path[:] = self.path


@dataclass(frozen=True)
class LibrarySettings:
    """The settings of numpy, decimal, warnings and Python; they may hold functions of the program.

    ``decimals`` is None where the module decimal is not imported: its settings are as at its beginning.
    """

    floating: dict[str, str]
    on_error: Any
    printing: dict[str, Any]
    decimals: tuple[Any, ...] | None
    recursion: int
    filters: list[Any]

    def apply(self) -> None:
        """Put them in force here, once the modules that the loop uses are imported."""
        np.seterr(**self.floating)  # type: ignore[arg-type]
        np.seterrcall(self.on_error)
        np.set_printoptions(**self.printing)
        if self.decimals is not None or "decimal" in sys.modules:
            _set_decimals(self.decimals)
        sys.setrecursionlimit(self.recursion)
        filters = [
            (*entry[:2], category, *entry[3:]) for entry in self.filters if (category := _found(entry[2]))
        ]
        warnings.resetwarnings()  # tells the modules that remember what they have shown
        warnings.filters[:] = filters  # type: ignore[index]


@dataclass(frozen=True)
class InterpreterState:
    """All that is carried."""

    environment: ProcessEnvironment
    settings: LibrarySettings


def capture() -> InterpreterState:
    """The state of this process now; OSError where its directory is gone."""
    return InterpreterState(
        ProcessEnvironment(dict(_environ()), os.getcwd(), list(sys.path)),
        LibrarySettings(
            {name: str(value) for name, value in np.geterr().items()},
            np.geterrcall(),
            np.get_printoptions(),  # type: ignore[arg-type]
            _decimals() if "decimal" in sys.modules else None,
            sys.getrecursionlimit(),
            [(*entry[:2], _name(entry[2]), *entry[3:]) for entry in warnings.filters],
        ),
    )


def _decimals() -> tuple[Any, ...]:
    import decimal

    context = decimal.getcontext()
    flags = tuple(flag for flag, is_set in context.traps.items() if is_set)
    numbers = (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp)
    return (*numbers, flags)


def _set_decimals(decimals: tuple[Any, ...] | None) -> None:
    import decimal

    if decimals is None:
        decimal.setcontext(decimal.DefaultContext.copy())
        return
    prec, rounding, emin, emax, capitals, clamp, flags = decimals
    decimal.setcontext(decimal.Context(prec, rounding, emin, emax, capitals, clamp, [], list(flags)))


def _name(category: Any) -> Any:
    """A warning category by name; itself where only the program has it."""
    if category.__module__ == "__main__" or "." in category.__qualname__:
        return category
    return category.__module__, category.__qualname__


def _found(category: Any) -> Any:
    """The category; None where its module is not imported, so that nothing can warn with it."""
    if isinstance(category, type):
        return category
    return getattr(sys.modules.get(category[0]), category[1], None)


def _environ() -> dict[Any, Any]:
    return getattr(os.environ, "_data", None) or {
        os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()
    }
