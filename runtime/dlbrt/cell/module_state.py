"""What modules keep that cells read and change: global random generators, how numpy prints and takes errors,
the context of `decimal`.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from dlbrt.mpi.values.generators import GENERATORS, key_of, restore, states
from dlbrt.mpi.values.program_state import decimals, set_decimals

_ERRORS, _PRINTING, _DECIMALS = "np.geterr()", "np.get_printoptions()", "the decimal context"


def capture() -> dict[str, Any]:
    """What the modules that are imported keep now, by a name for each."""
    found: dict[str, Any] = {**states(), _ERRORS: np.geterr(), _PRINTING: np.get_printoptions()}
    if "decimal" in sys.modules:
        found[_DECIMALS] = decimals()
    return found


def apply(found: dict[str, Any]) -> None:
    """Have modules keep what `capture` has found elsewhere; those that are not there are imported."""
    for name in GENERATORS:
        if key_of(name) in found:
            importlib.import_module(name)
            restore(name, found[key_of(name)])
    if _ERRORS in found:
        np.seterr(**found[_ERRORS])
    if _PRINTING in found:
        np.set_printoptions(**found[_PRINTING])
    if _DECIMALS in found:
        set_decimals(found[_DECIMALS])


def changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What differs from before."""
    return {name: value for name, value in after.items() if not _same(before.get(name), value)}


def _same(one: Any, other: Any) -> bool:
    return repr(_plain(one)) == repr(_plain(other))


def _plain(value: Any) -> Any:
    """A value whose text shows all of it: arrays as their bytes."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value.tobytes() if isinstance(value, np.ndarray) else value
