"""The state of the interpreter on other ranks: environment, settings of Python and of libraries.

What the program set before a loop goes with the call where it has changed, and holds on every rank.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from dlbrt.records import dataclass


@dataclass(frozen=True)
class ProcessEnvironment:
    """What modules may read when they are imported: environment, directory, module search path.

    ``environ`` is encoded as the interpreter holds it, because decoding it at each call costs more than all
    the rest.
    """

    environ: dict[Any, Any]
    directory: str
    path: list[str]

    def apply(self) -> None:
        """Apply the environment to this process."""
        if _environ() != self.environ:
            os.environ.clear()
            os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in self.environ.items()})
        os.chdir(self.directory)
        sys.path[:] = self.path


@dataclass(frozen=True)
class LoggingSettings:
    """Which records are made: a level for all, and those of loggers with disabled and propagate, by name.

    What is done with a record is not part of it: rank 0 does it (`dlbrt.reductions.log_records`).
    """

    disabled_up_to: int
    loggers: dict[str, tuple[int, bool, bool]]

    def apply(self) -> None:
        """Apply the settings to this process."""
        import logging

        logging.disable(self.disabled_up_to)
        for name, (level, disabled, propagates) in self.loggers.items():
            logger = logging.getLogger(name)
            logger.setLevel(level)
            logger.disabled, logger.propagate = disabled, propagates


def logging_settings() -> LoggingSettings | None:
    """The settings of the module logging as they are; None where it is not imported."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    found = {
        name: (logger.level, logger.disabled, logger.propagate)
        for name, logger in (("root", logging.root), *logging.root.manager.loggerDict.items())
        if isinstance(logger, logging.Logger)
    }
    return LoggingSettings(logging.root.manager.disable, found)


@dataclass(frozen=True)
class LibrarySettings:
    """The settings of numpy, decimal, logging, warnings and Python; they may hold functions of the program.

    ``decimals`` is None where the module decimal is not imported: its settings are the defaults. ``logging``
    is None likewise.
    """

    floating: dict[str, str]
    on_error: Any
    printing: dict[str, Any]
    decimals: tuple[Any, ...] | None
    recursion: int
    filters: list[Any]
    logging: LoggingSettings | None = None

    def apply(self) -> None:
        """Apply the settings to this process, after the modules that the loop uses have been imported."""
        np.seterr(**self.floating)  # type: ignore[arg-type]
        np.seterrcall(self.on_error)
        np.set_printoptions(**self.printing)
        if self.decimals is not None or "decimal" in sys.modules:
            set_decimals(self.decimals)
        sys.setrecursionlimit(self.recursion)
        if self.logging is not None:
            self.logging.apply()
        filters = [
            (*entry[:2], category, *entry[3:]) for entry in self.filters if (category := _found(entry[2]))
        ]
        warnings.resetwarnings()  # invalidates the modules' records of warnings already shown
        warnings.filters[:] = filters  # type: ignore[index]


@dataclass(frozen=True)
class InterpreterState:
    """The interpreter state that goes with a call."""

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
            decimals() if "decimal" in sys.modules else None,
            sys.getrecursionlimit(),
            [(*entry[:2], _name(entry[2]), *entry[3:]) for entry in warnings.filters],
            logging_settings(),
        ),
    )


#: Modules that register a callback for the exit as they are imported, which a rank may do at any time.
_REGISTERING = ("logging", "multiprocessing.util", "matplotlib._pylab_helpers")


def exit_callbacks() -> int:
    """How many callbacks are registered for the exit, but for those of modules and of finalizers."""
    imported = sum(name in sys.modules for name in _REGISTERING)
    finalizers: Any = weakref.finalize  # the first one made on a rank registers a callback for all
    return atexit._ncallbacks() - imported - bool(finalizers._registered_with_atexit)


#: What of an artist's data shows that it is another one.
_DRAWN = ("get_text", "get_xydata", "get_offsets", "get_array", "get_bbox")


def figures() -> dict[str, Any]:
    """What stands in the figures of pyplot, and which is the current one; empty where it is not imported."""
    pyplot = sys.modules.get("matplotlib._pylab_helpers")
    if pyplot is None:
        return {}
    held = {number: manager.canvas.figure for number, manager in pyplot.Gcf.figs.items()}
    contents = {f"figure {n} of pyplot": list(map(_drawn, held[n].findobj())) for n in sorted(held)}
    return {"pyplot's figures": list(held), **contents}


def _drawn(artist: Any) -> tuple[str, ...]:
    found = [getattr(artist, name)() for name in _DRAWN if hasattr(artist, name)]
    data = (each.tobytes().hex() if isinstance(each, np.ndarray) else str(each) for each in found)
    return type(artist).__name__, *data


def decimals() -> tuple[Any, ...]:
    """The settings of the decimal context."""
    import decimal

    context = decimal.getcontext()
    flags = tuple(flag for flag, is_set in context.traps.items() if is_set)
    numbers = (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp)
    return (*numbers, flags)


def forget_signals() -> None:
    """A loop begins on this rank: no signal of the decimal context has been raised yet."""
    if (decimal := sys.modules.get("decimal")) is not None:
        decimal.getcontext().clear_flags()


def raised_signals() -> tuple[str, ...]:
    """The signals that iterations have raised in the decimal context, by name."""
    decimal = sys.modules.get("decimal")
    flags = {} if decimal is None else decimal.getcontext().flags
    return tuple(signal.__name__ for signal, is_set in flags.items() if is_set)


def raise_signals(names: Iterable[str]) -> None:
    """Raise signals that iterations of other ranks have raised."""
    for name in names:
        import decimal

        decimal.getcontext().flags[getattr(decimal, name)] = True


def set_decimals(decimals: tuple[Any, ...] | None) -> None:
    """Give the decimal context these settings, or those that it begins with."""
    import decimal

    if decimals is None:
        decimal.setcontext(decimal.DefaultContext.copy())
        return
    prec, rounding, emin, emax, capitals, clamp, flags = decimals
    decimal.setcontext(decimal.Context(prec, rounding, emin, emax, capitals, clamp, [], list(flags)))


def _name(category: Any) -> Any:
    """A warning category by name; the class itself where only the program has it."""
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
