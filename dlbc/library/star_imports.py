"""What `from MODULE import *` binds, for the modules with which people do that.

Of numpy only names are listed that every version exports: which of Python's builtins it hides beside these
has changed from version to version, so those are taken to mean neither.
"""

from __future__ import annotations

import builtins
import cmath
import math

from dlbc.library.table import TABLE

_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))

#: Builtins that numpy exports in every version, and those that it exports in some.
_IN_NUMPY = frozenset({"all", "any", "sum"})
_PERHAPS_IN_NUMPY = frozenset({
    "abs", "bool", "bytes", "complex", "divmod", "float", "int", "max", "min", "object", "pow", "round",
    "str",
})  # fmt: skip


def exported_by(module: str) -> frozenset[str]:
    """The names that a star import of the module surely binds; none for a module that is not listed."""
    match module:
        case "math" | "cmath":
            return frozenset(n for n in dir(math if module == "math" else cmath) if not n.startswith("_"))
        case "numpy":
            names = (name.removeprefix("numpy.") for name in TABLE if name.startswith("numpy."))
            return frozenset(n for n in names if "." not in n and (n not in _BUILTINS or n in _IN_NUMPY))
    return frozenset()


def builtins_hidden_by(module: str) -> frozenset[str]:
    """The builtins that a star import of the module may hide: any, if the module is not listed."""
    match module:
        case "math" | "cmath":
            return exported_by(module) & _BUILTINS
        case "numpy":
            return _IN_NUMPY | _PERHAPS_IN_NUMPY
    return _BUILTINS
