"""Interpreter state that the program set before a loop and that holds on every rank during it."""

from __future__ import annotations

import decimal
import os
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["State", "apply_settings", "apply_surroundings", "capture"]


@dataclass(frozen=True)
class State:
    """What is carried: environment, directory, and the settings of numpy, decimal, warnings and Python.

    ``environ`` is as the interpreter holds it, encoded, because decoding it at each call costs more than
    all the rest.
    """

    environ: dict[Any, Any]
    directory: str
    floating: dict[str, str]
    printing: dict[str, Any]
    decimals: tuple[Any, ...]
    recursion: int
    filters: list[Any]


def capture() -> State:
    """The state of this process now."""
    context = decimal.getcontext()
    flags = tuple(flag for flag, is_set in context.traps.items() if is_set)
    return State(
        dict(_environ()),
        os.getcwd(),
        {name: str(value) for name, value in np.geterr().items()},
        np.get_printoptions(),  # type: ignore[arg-type]
        (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, flags),
        sys.getrecursionlimit(),
        [(*entry[:2], _name(entry[2]), *entry[3:]) for entry in warnings.filters],
    )


def apply_surroundings(state: State) -> None:
    """Put environment and directory in force here, which modules may read when they are imported."""
    if _environ() != state.environ:
        os.environ.clear()
        os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in state.environ.items()})
    os.chdir(state.directory)


def apply_settings(state: State) -> None:
    """Put the rest in force here, once the modules that the loop uses are imported."""
    np.seterr(**state.floating)  # type: ignore[arg-type]
    np.set_printoptions(**state.printing)
    *numbers, flags = state.decimals
    prec, rounding, emin, emax, capitals, clamp = numbers
    decimal.setcontext(decimal.Context(prec, rounding, emin, emax, capitals, clamp, [], list(flags)))
    sys.setrecursionlimit(state.recursion)
    filters = [
        (*entry[:2], category, *entry[3:]) for entry in state.filters if (category := _found(entry[2]))
    ]
    warnings.resetwarnings()
    warnings.filters[:] = filters  # type: ignore[index]


def _name(category: Any) -> tuple[str, str]:
    return category.__module__, category.__qualname__


def _found(name: tuple[str, str]) -> Any:
    """The class of that name; None where its module is not imported, so that nothing can warn with it."""
    return getattr(sys.modules.get(name[0]), name[1], None)


def _environ() -> dict[Any, Any]:
    return getattr(os.environ, "_data", None) or {
        os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()
    }
