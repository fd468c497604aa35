"""The program's own modules on other ranks: they are imported there, and their data follows rank 0's.

A function of a module beside the program is known to the other ranks by name, and they import the
module; what the program has set in it since (``helper.scale = 3``) would be missing. So the data of
the program's own modules goes with each call: all globals but functions, classes and modules.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import pickle
import sys
import types
from typing import Any

import cloudpickle

__all__ = ["ModuleData", "apply", "collect", "is_module_of_program", "is_of_program"]

ModuleData = dict[str, dict[str, Any]]

_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def collect() -> ModuleData:
    """The data of the modules that lie in the program's directory, by module name."""
    return {name: _data(sys.modules[name]) for name in _own_names(len(sys.modules)) if name in sys.modules}


def is_of_program(value: Any) -> bool:
    """Whether a function or class was defined by the program itself or a module that lies beside it."""
    return _is_ours(getattr(value, "__module__", None))


def is_module_of_program(module: types.ModuleType) -> bool:
    """Whether a module is the program itself or lies beside it."""
    return _is_ours(getattr(module, "__name__", None))


def _is_ours(name: str | None) -> bool:
    return name in ("__main__", "__mp_main__") or name in _own_names(len(sys.modules))


def apply(data: ModuleData) -> None:
    """Put collected data in place, importing what is not imported yet; imports print nothing."""
    for name, values in data.items():
        with contextlib.redirect_stdout(io.StringIO()):
            module = importlib.import_module(name)
        vars(module).update(values)


@functools.lru_cache(maxsize=1)
def _own_names(_modules: int) -> tuple[str, ...]:
    """Names of the program's own modules; looked for again when the number of modules changes."""
    home = os.path.dirname(os.path.abspath(getattr(sys.modules["__main__"], "__file__", None) or ""))
    return tuple(name for name, module in list(sys.modules.items()) if _is_own(name, module, home))


def _is_own(name: str, module: object, home: str) -> bool:
    path = getattr(module, "__file__", None)
    if not isinstance(path, str) or name in ("__main__", "__mp_main__") or not path.endswith(".py"):
        return False
    path = os.path.abspath(path)
    installed = "site-packages" in path or path.startswith((_RUNTIME, os.path.dirname(os.__file__)))
    return path.startswith(home + os.sep) and not installed


def _data(module: object) -> dict[str, Any]:
    values = {k: v for k, v in vars(module).items() if not k.startswith("__") and not isinstance(v, _CODE)}
    try:
        pickle.dumps([v for v in values.values() if not hasattr(v, "__array_interface__")])
    except Exception:  # some value cannot leave this process: find out which
        return {name: value for name, value in values.items() if _can_leave(value)}
    return values


def _can_leave(value: Any) -> bool:
    try:
        cloudpickle.dumps(value)
    except Exception:  # the pickler raises whatever the objects' own hooks raise
        return False
    return True
