"""What compiled code would compute otherwise than Python, found in numba's typed form of a function.

numba gives each variable one type. Python's value may have had another on some path: an integer where numba
has converted it to a float, a bool, nothing at all. Such a variable is refused unless no operation on it can
show the difference. The checks run as a pass after type inference (`CheckingCompiler`).

* float32, unsigned and small integers: refused in arithmetic. NEP 50 keeps their type, numba does not. With a
  float64 small integers give one in both. To arrays of them is stored what surely fits.
* Arithmetic of two bools: numpy's is logical, Python's is not, and numba has one kind of bool.
* ``s = 0`` before ``s += x``: `s` is a float in compiled code. As 0 and 0.0 give the same in every operation
  with a float, it may be used in these and stored in float arrays; anything else is refused.
* A float stored in an array of integers: Python raises where it is no number or too large.
* Complex division and numpy's functions of complex numbers, whose last bits differ, and which raise in
  compiled code; rows of arrays as values.
* A variable that is not assigned on all paths would be read as it is: refused where it is used.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import NopythonTypeInference

from dlbrt.native.arguments import NotCompiled
from dlbrt.native.numerics import (
    EXACT,
    EXACT32,
    integer,
    maximum2,
    minimum2,
    outside,
    too_large,
    unfit,
)
from dlbrt.native.wrapping import wrap_elements

_ARITHMETIC = {
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, operator.lshift, operator.rshift),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
    *(operator.ipow, operator.ilshift, operator.irshift),
}
_CONVERTING = (int, float, range, bool, outside, integer, unfit, minimum2, maximum2, too_large)
_POWERS = {operator.pow, operator.ipow}
_DIVISIONS = {operator.truediv, operator.itruediv}
_COMPARISONS = {operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt}


@register_pass(mutates_CFG=False, analysis_only=True)
class _CheckTypes(AnalysisPass):  # type: ignore[misc]
    """Raise NotCompiled for what would be computed otherwise."""

    _name = "dlbrt_check_types"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        check = _Check(state.func_ir, state.typemap)
        check.run()
        wrap_elements(check.assignments, state.typemap)
        return False


@register_pass(mutates_CFG=False, analysis_only=True)
class _HideSymbols(AnalysisPass):  # type: ignore[misc]
    """Keep what a kernel shares with other kernels local to its object code.

    numba tells functions of one name apart by a counter, which runs anew in each process. Object code that is
    loaded must not be linked with another function that has the same number here.
    """

    _name = "dlbrt_hide_symbols"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        library = state.library = state.targetctx.codegen().create_library(name)
        library.enable_object_caching()
        optimize = library._optimize_final_module

        def optimize_and_hide() -> None:
            optimize()
            for function in library._final_module.functions:
                if not function.is_declaration and name not in function.name:
                    function.linkage = "internal"

        library._optimize_final_module = optimize_and_hide
        return False


class CheckingCompiler(CompilerBase):  # type: ignore[misc]
    """numba's compiler with the checks, without its fall-backs."""

    def define_pipelines(self) -> list[Any]:
        """The passes, as numba asks for them."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CheckTypes, NopythonTypeInference)
        self.add_passes(passes)
        passes.finalize()
        return [passes]

    def add_passes(self, passes: Any) -> None:
        """Add what kernels need beyond the functions that they call."""


class KernelCompiler(CheckingCompiler):
    """The compiler of chunk functions themselves, whose object code is kept."""

    def add_passes(self, passes: Any) -> None:
        """Hide the symbols of everything else."""
        passes.add_pass_after(_HideSymbols, _CheckTypes)


class _Check:
    """The checks of one function."""

    def __init__(self, function: Any, typemap: dict[str, Any]) -> None:
        self._typemap = typemap
        self.assignments = [
            statement
            for block in function.blocks.values()
            for statement in block.body
            if isinstance(statement, ir.Assign)
        ]
        self._statements = [each for block in function.blocks.values() for each in block.body]
        self._constants = {
            each.target.name: each.value.value
            for each in self.assignments
            if isinstance(each.value, ir.Const | ir.Global | ir.FreeVar)
        }
        self._copies = {
            each.target.name: each.value.name for each in self.assignments if isinstance(each.value, ir.Var)
        }
        #: Integers of which it has been tested that they fit.
        self._tested = {
            self._source(each.value.args[1])
            for each in self.assignments
            if isinstance(each.value, ir.Expr) and each.value.op == "call" and self._calls(each.value, unfit)
        }
        #: What names hold before they are bound.
        self._unbound = {
            each.target.name
            for each in self.assignments
            if isinstance(each.value, ir.Expr) and each.value.op == "getattr" and each.value.attr == "UNBOUND"
        }
        self._undefined: set[str] = set()
        self._converted: set[str] = set()

    def run(self) -> None:
        for statement in self.assignments:
            self._check_type(statement)
        parts = {each.target.name for each in self.assignments if self._is_part(each)}
        for statement in self.assignments:
            if isinstance(statement.value, ir.Var) and statement.value.name in parts:
                raise NotCompiled("a part of an array is a value here", statement.loc.line)
            for source in _copied(statement.value):
                self._check_copy(statement, source)
        self._spread()
        for statement in self._statements:
            self._check_use(statement)

    def _type(self, variable: Any) -> Any:
        return types.unliteral(self._typemap[variable.name])

    def _is_part(self, statement: Any) -> bool:
        """Whether a statement takes a row, or another part, of an array."""
        value = statement.value
        is_item = isinstance(value, ir.Expr) and value.op in ("getitem", "static_getitem")
        return is_item and isinstance(self._type(statement.target), types.Array)

    def _check_type(self, statement: Any) -> None:
        kind, name = self._type(statement.target), _shown(statement.target)
        if isinstance(kind, types.Float | types.Complex) and kind.bitwidth not in (64, 128):
            raise NotCompiled(f"{name} is a {kind}, whose operations round otherwise", statement.loc.line)
        if isinstance(kind, types.Optional):
            raise NotCompiled(f"{name} may be None", statement.loc.line)
        if isinstance(kind, types.UnicodeType | types.Bytes | types.DictType | types.List | types.Set):
            raise NotCompiled(f"{name} is {_collection(kind)}", statement.loc.line)

    def _check_copy(self, statement: Any, source: Any) -> None:
        """A value that becomes another type where paths meet, or where a name is given a type for all."""
        if source is ir.UNDEFINED:
            self._undefined.add(statement.target.name)
            return
        old, new = self._type(source), self._type(statement.target)
        if old == new or not isinstance(new, types.Number | types.Boolean):
            return
        if self._source(source) in self._unbound:
            return
        constant = self._constants.get(source.name)
        if new == types.float64 and type(constant) is int and abs(constant) <= EXACT:
            self._converted.add(statement.target.name)
            return
        raise NotCompiled(
            f"{_shown(statement.target)} is {_kind(old)} first, then {_kind(new)}", statement.loc.line
        )

    def _spread(self) -> None:
        """Copies of undefined or converted values are such values."""
        for names in (self._undefined, self._converted):
            before = -1
            while before != len(names):
                before = len(names)
                for each in self.assignments:
                    copied = (source for source in _copied(each.value) if source is not ir.UNDEFINED)
                    if any(source.name in names for source in copied):
                        names.add(each.target.name)

    def _check_use(self, statement: Any) -> None:
        if isinstance(statement, ir.Del):
            return
        value = statement.value if isinstance(statement, ir.Assign) else statement
        if isinstance(statement, ir.Assign) and _is_copy(value):
            return
        used = list(_used(value))
        for variable in used:
            if variable.name in self._undefined:
                raise NotCompiled(f"{_shown(variable)} may have no value", statement.loc.line)
        if isinstance(value, ir.SetItem | ir.StaticSetItem):
            self._check_store(value, statement.loc.line)
        if isinstance(value, ir.Expr):
            self._check_operation(value, statement.loc.line)
        if not self._may_be_converted(value):
            for variable in used:
                if variable.name in self._converted:
                    reason = f"{_shown(variable)} may be an integer, or a float"
                    raise NotCompiled(f"{reason}: begin with 0.0 instead of 0", statement.loc.line)

    def _may_be_converted(self, value: Any) -> bool:
        """Whether an operation gives the same for an integer and the float of its value."""
        if isinstance(value, ir.SetItem | ir.StaticSetItem):
            return isinstance(array := self._type(value.target), types.Array) and array.dtype == types.float64
        if not isinstance(value, ir.Expr) or value.op not in ("binop", "inplace_binop"):
            return False
        if value.fn in _COMPARISONS:
            return True
        operands = (value.lhs, value.rhs)
        return any(
            each.name not in self._converted and self._type(each) == types.float64 for each in operands
        )

    def _check_store(self, store: Any, line: int) -> None:
        array, stored = self._type(store.target), self._type(store.value)
        if not isinstance(array, types.Array):
            return
        kind = stored.dtype if isinstance(stored, types.Array) else stored
        if isinstance(array.dtype, types.Integer) and not isinstance(kind, types.Integer | types.Boolean):
            raise NotCompiled("a float is stored in an array of integers", line)
        small = _is_small(array.dtype) or array.dtype == types.float32
        if small and isinstance(kind, types.Integer) and not self._fits(store, array.dtype, kind):
            raise NotCompiled(f"an integer that may not fit is stored in an array of {array.dtype}", line)

    def _fits(self, store: Any, element: Any, kind: Any) -> bool:
        """Whether an integer is the same as an element of an array."""
        source = self._source(store.value)
        constant = self._constants.get(source)
        if element == types.float32:
            low, high = -EXACT32, EXACT32
        else:
            low, high = element.minval, element.maxval
        if type(constant) is int:
            return bool(low <= constant <= high)
        return bool(low <= kind.minval and kind.maxval <= high) or source in self._tested

    def _source(self, variable: Any) -> str:
        """The name of the variable of which this one is a copy."""
        name = str(variable.name)
        while name in self._copies:
            name = self._copies[name]
        return name

    def _check_operation(self, value: Any, line: int) -> None:
        if value.op in ("binop", "inplace_binop"):
            operands = [value.lhs, value.rhs]
            kinds = [self._type(each) for each in operands]
            if value.fn in _COMPARISONS and not any(map(_is_wide_unsigned, kinds)):
                return
            if value.fn in _DIVISIONS and any(isinstance(kind, types.Complex) for kind in kinds):
                raise NotCompiled("division of complex numbers, whose last bits may differ", line)
            if any(isinstance(kind, types.Array) for kind in kinds):
                raise NotCompiled("a part of an array is a value here", line)
            if value.fn in _ARITHMETIC and all(isinstance(kind, types.Boolean) for kind in kinds):
                raise NotCompiled("arithmetic of two bools, which numpy's and Python's do otherwise", line)
            if types.float64 in kinds and value.fn not in _POWERS:
                return
        elif value.op == "unary":
            kinds = [self._type(value.value)]
            if value.fn is not operator.not_ and isinstance(kinds[0], types.Boolean):
                raise NotCompiled("arithmetic of a bool, which numpy's and Python's do otherwise", line)
        elif value.op == "call":
            if any(isinstance(self._type(each), types.Complex) for each in value.args) and self._is_of_numpy(
                value
            ):
                reason = "a function of numpy on complex numbers, whose last bits may differ"
                raise NotCompiled(reason, line)
            kinds = [] if self._converts(value) else [self._type(each) for each in value.args]
        else:
            return
        for kind in kinds:
            if _is_small(kind):
                raise NotCompiled(f"arithmetic of {kind}, whose results have that type in numpy", line)

    def _is_of_numpy(self, call: Any) -> bool:
        known = getattr(self._typemap[call.func.name], "typing_key", None)
        return isinstance(known, np.ufunc) or str(getattr(known, "__module__", "")).startswith("numpy")

    def _converts(self, call: Any) -> bool:
        """Whether a call takes integers of any type as what they are."""
        function = self._typemap[call.func.name]
        if isinstance(function, types.Dispatcher):
            return True  # it is checked itself
        known = getattr(function, "typing_key", None)
        return known in _CONVERTING

    def _calls(self, call: Any, function: object) -> bool:
        return getattr(self._typemap[call.func.name], "typing_key", None) is function


def _copied(value: Any) -> Iterator[Any]:
    """The variables whose value a name gets as it is: `ir.UNDEFINED` stands for none."""
    if isinstance(value, ir.Var):
        yield value
    elif isinstance(value, ir.Expr) and value.op == "phi":
        yield from value.incoming_values
    elif isinstance(value, ir.Expr) and value.op == "cast":
        yield value.value


def _is_copy(value: Any) -> bool:
    return isinstance(value, ir.Var) or (isinstance(value, ir.Expr) and value.op in ("phi", "cast"))


def _used(value: Any) -> Iterator[Any]:
    """The variables that a statement or an expression reads."""
    return iter(value.list_vars()) if hasattr(value, "list_vars") else iter(())


def _shown(variable: Any) -> str:
    """The name in the program; a value without one is "a value"."""
    name = str(variable.unversioned_name)
    return "a value" if name.startswith("$") else f"`{name}`"


def _is_small(kind: Any) -> bool:
    return isinstance(kind, types.Integer) and (kind.bitwidth < 64 or not kind.signed)


def _is_wide_unsigned(kind: Any) -> bool:
    return isinstance(kind, types.Integer) and kind.bitwidth == 64 and not kind.signed


def _collection(kind: Any) -> str:
    for known, shown in (
        (types.UnicodeType, "a string"),
        (types.Bytes, "a bytes object"),
        (types.List, "a list"),
    ):
        if isinstance(kind, known):
            return shown
    return "a dictionary or a set"


def _kind(kind: Any) -> str:
    if isinstance(kind, types.Boolean):
        return "a bool"
    if isinstance(kind, types.Integer):
        return "an integer"
    return "a float" if isinstance(kind, types.Float) else f"of type {kind}"
