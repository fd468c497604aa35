"""`dataclass` as in the standard library, but classes are made in a tenth of the time.

The standard library compiles up to six methods for each class at import, half a millisecond per class: with
some hundred classes that was half of a rank's start-up time. Here all classes share their methods, and
``__init__`` is compiled when the first object is made, which most programs never do for most classes. Type
checkers see the standard library's decorator.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, kw_only=False):
        """A decorator like `dataclasses.dataclass`, with those of its parameters that are used here."""
        if cls is None:
            return lambda cls: _completed(cls, frozen, slots, eq, kw_only)
        return _completed(cls, frozen, slots, eq, kw_only)


def _completed(cls: type[Any], frozen: bool, slots: bool, eq: bool, kw_only: bool) -> type[Any]:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else the standard library writes a signature, which is slow
    own = set(cls.__dict__)
    if eq and cls.__dict__.get("__hash__", ...) is None and "__eq__" in own:
        own.remove("__hash__")  # Python has put it there
    made: type[Any] = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(
        cls
    )
    methods: dict[str, Any] = {"__init__": _initializer_on_demand(made, frozen), "__repr__": _repr}
    if eq:
        methods |= _comparisons(made, frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_setting, "__delattr__": _refuse_deleting}
    if frozen and slots:
        methods |= _state(made)
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _initializer_on_demand(cls: type, frozen: bool) -> Callable[..., None]:
    def __init__(self: Any, /, *values: Any, **named: Any) -> None:  # noqa: N807
        made = _initializer(cls, frozen)
        if cls.__init__ is __init__:  # type: ignore[misc]
            cls.__init__ = made  # type: ignore[misc]
        made(self, *values, **named)

    return __init__


def _initializer(cls: type, frozen: bool) -> Callable[..., None]:
    """``__init__`` as the standard library writes it."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_absent": _ABSENT}
    parameters, keywords, body = ["self"], list[str](), list[str]()
    for each in dataclasses.fields(cls):
        name, value = each.name, each.name
        parameter = name
        if each.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = each.default
            parameter, value = f"{name}=_default_{name}", name if each.init else f"_default_{name}"
        elif each.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = each.default_factory
            parameter, value = f"{name}=_absent", f"_make_{name}()"
            value += f" if {name} is _absent else {name}" if each.init else ""
        elif not each.init:
            continue
        if each.init:
            (keywords if each.kw_only else parameters).append(parameter)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    head = ", ".join([*parameters, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({head}):\n " + "\n ".join(body or ["pass"]), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


_ABSENT = object()


def _values(cls: type, wanted: Callable[[dataclasses.Field[Any]], bool | None]) -> Callable[[Any], Any]:
    """A function from a record to the values of the wanted fields, as a tuple."""
    names = [each.name for each in dataclasses.fields(cls) if wanted(each)]
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda record: tuple([getattr(record, name) for name in names])


def _comparisons(cls: type, frozen: bool) -> dict[str, Any]:
    compared = _values(cls, lambda each: each.compare)

    def __eq__(self: Any, other: Any) -> bool:  # noqa: N807
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    hashed = _values(cls, lambda each: each.compare if each.hash is None else each.hash)
    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _state(cls: type) -> dict[str, Any]:
    """The methods for pickling and copying, which a frozen class without a dictionary must define."""
    names = [each.name for each in dataclasses.fields(cls)]

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_setting(self: Any, name: str, value: Any) -> None:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:  # noqa: ARG001
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
