"""The one table of what calls of library functions and methods do, by name.

To add a function or method, add its name to the row of `python`, `arrays`, `scientific` or `methods` with
the same properties, or add a row. Functions have their full names (``numpy.add``, ``builtins.len``), methods
a dot before theirs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from dlbc.library.arrays import NUMPY, UFUNC_METHODS
from dlbc.library.methods import METHODS
from dlbc.library.python import PACKAGES, PLAIN_PACKAGES, PYTHON, RANDOM_PACKAGES, REFLECTIVE, Trust
from dlbc.library.result_aliases import NOTHING, all_of
from dlbc.library.row import Back, EffectKind, Key, LibraryCall, ResultKind, table
from dlbc.library.scientific import SCIPY

TABLE: Final = table(PYTHON, NUMPY, SCIPY, METHODS)

_UNKNOWN = LibraryCall(known=False)
_DRAWS = LibraryCall(known=False, effect=EffectKind.RANDOM)


def lookup(name: str) -> LibraryCall:
    """What is known of a function by its full name, or of a method by a dot and its name."""
    row = TABLE.get(name)
    if row is None and is_ufunc_method(name):
        return UFUNC_METHODS[name.rpartition(".")[2]]
    return row or (_DRAWS if name.startswith(RANDOM_PACKAGES) else _UNKNOWN)


def is_ufunc_method(name: str) -> bool:
    """Whether it is a method of one of numpy's universal functions: ``numpy.add.at``."""
    return name.startswith("numpy.") and name.count(".") > 1 and name.rpartition(".")[2] in UFUNC_METHODS


def names_where(holds: Callable[[LibraryCall], bool]) -> frozenset[str]:
    """Names of functions and methods whose row has a property."""
    return frozenset(name for name, row in TABLE.items() if holds(row))


def methods_where(holds: Callable[[LibraryCall], bool]) -> frozenset[str]:
    """Names of methods whose row has a property, without the dot."""
    return frozenset(name[1:] for name, row in METHODS.items() if holds(row))


def given_back(name: str, call: ast.Call) -> Back | None:
    """The arguments that a call of this function may return; None where the table has no rule for it."""
    rule = lookup(name).rule
    if rule is None:
        return None
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return Back(views=all_of(call), held=all_of(call))
    return rule(call)


def is_new(name: str, call: ast.Call) -> bool:
    """Whether the result surely shares nothing with the arguments."""
    return lookup(name).is_new or given_back(name, call) == NOTHING


def places_for_results(name: str, call: ast.Call) -> list[ast.expr]:
    """The arguments in places where a function may store its result, without a keyword."""
    row = lookup(name)
    if row.out_at is not None:
        return call.args[row.out_at :]
    known = row.computes or row.result is ResultKind.VIEW
    return call.args[1:] if name.startswith("numpy.") and not known else []


def is_place_for_result(name: str, key: Key) -> bool:
    """Whether a function stores its result in the argument with this position or keyword."""
    if isinstance(key, int):
        at = lookup(name).out_at
        return at is not None and key >= at
    return key == "out" or (key == "output" and name.startswith("scipy.ndimage."))


def works_in_place(name: str, call: ast.Call) -> bool:
    """Whether a switch makes the function work in the memory of its arguments, or may do so."""
    at = lookup(name).in_place_at
    switches = [] if at is None else [(node, name == "numpy.nan_to_num") for node in call.args[at : at + 1]]
    for keyword in call.keywords:
        if keyword.arg == "copy" and at is not None:
            switches.append((keyword.value, True))
        elif (keyword.arg or "").startswith("overwrite"):
            switches.append((keyword.value, False))
    return any(not (isinstance(node, ast.Constant) and node.value is off) for node, off in switches)


def _trust(name: str) -> int:
    root, dot, _ = name.partition(".")
    return PACKAGES.get(root, 0) if dot else 0


def is_library(name: str) -> bool:
    """Whether a name belongs to Python's own library or to a package that is well known."""
    return name.partition(".")[0] in PACKAGES and not name.startswith(REFLECTIVE)


def only_reads(name: str) -> bool:
    """Whether the function only reads its arguments, unless its row says otherwise."""
    return _trust(name) >= Trust.READS


def is_pure(name: str) -> bool:
    """Whether the function changes nothing that iterations share, unless its row says otherwise."""
    return _trust(name) >= Trust.PURE


#: Functions that are beyond doubt as they only look at text.
_SEARCHES = tuple(
    f"re.{name}" for name in ("compile", "escape", "findall", "fullmatch", "match", "search", "split")
)

#: Packages whose functions are beyond doubt where they have a row, or are pure by their package.
_CERTAIN = ("builtins.", "math.", "cmath.", "numpy.", "time.", *_SEARCHES)

#: Functions of these packages that change settings.
_SETTERS = frozenset(f"numpy.{name}" for name in ("set_printoptions", "setbufsize", "seterr", "seterrcall"))


def is_certain(name: str, call: ast.Call) -> bool:
    """Whether what the table says of a function is beyond doubt, so that nobody has to look what it changes.

    That is so for the arithmetic of Python and numpy as long as results are new objects, and for methods that
    only read.
    """
    row = lookup(name)
    if row.prints or row.effect is EffectKind.FILE:
        return True  # kept in order, or the word of the user
    if row.is_effective:
        return False
    if name.startswith("."):
        return row.known and not (row.calls or row.applies or row.sends or row.fills)
    if not name.startswith(_CERTAIN) or name.startswith(RANDOM_PACKAGES):
        return False
    if is_ufunc_method(name) or name in _SETTERS:
        return False
    to = any(k.arg in (None, "out", "where") or (k.arg or "").startswith("overwrite") for k in call.keywords)
    return is_pure(name) and not (to or places_for_results(name, call) or works_in_place(name, call))


def gives_plain(name: str) -> bool:
    """Whether the function returns a number, text or another value that can hold no array."""
    row = lookup(name)
    plain = name.partition(".")[0] in PLAIN_PACKAGES and "." in name and is_library(name)
    return row.result is ResultKind.PLAIN or row.generator or plain
