"""How classes of the program go by value: with their slots, keyword arguments and members, and without hooks.

cloudpickle makes a class anew on another rank. What the program's own metaclass, ``__init_subclass__`` and
``__init__`` of members did when it defined the class must not be done again there.
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

from cloudpickle.cloudpickle import (
    _class_setstate,
    _lookup_class_or_track,
    _make_skeleton_class,
    _make_skeleton_enum,
)

from dlbrt.mpi.values.program_modules import is_of_program


def of_class(kind: type, reduced: Any) -> Any:
    """The reduction of a class, whose copies get its slots too: cloudpickle forgets them.

    Instances of a class without them have a dictionary in their place, and so another pickled state. A
    `NamedTuple` gets its slots as it is made, and takes no others.
    """
    if isinstance(kind, enum.EnumMeta):
        return reduced if reduced is NotImplemented else _of_enum(kind, reduced)
    if reduced is NotImplemented or reduced[0] is not _make_skeleton_class:
        return reduced
    _, (*before, members, number, extra), *rest = reduced
    slots = kind.__dict__.get("__slots__")
    if slots is not None and NamedTuple not in kind.__dict__.get("__orig_bases__", ()):
        members |= {"__slots__": slots}
    return _make_class, (*before, members, number, extra), *rest


#: Stands for what a class of the program does where a class is derived from it.
_DERIVES = classmethod(lambda _, **__: None)


def _make_class(
    metaclass: Any, name: str, bases: tuple[Any, ...], members: dict[str, Any], number: str, extra: Any
) -> Any:
    """A class before its attributes are set, made without the program's hooks: they have run at rank 0.

    These are ``__init_subclass__`` of its bases, and its metaclass.
    """
    resolved = types.resolve_bases(bases)  # NamedTuple is a function, and Generic[T] no class
    above = {base for each in resolved for base in each.__mro__ if "__init_subclass__" in vars(base)}
    hooks = {base: vars(base)["__init_subclass__"] for base in above if is_of_program(base)}
    for base in hooks:
        type.__setattr__(base, "__init_subclass__", _DERIVES)
    try:
        if not is_of_program(metaclass):
            return _make_skeleton_class(metaclass, name, bases, members, number, extra)
        maker: Any = next(kind for kind in metaclass.__mro__ if not is_of_program(kind))
        return _lookup_class_or_track(number, maker.__new__(metaclass, name, bases, dict(members)))
    finally:
        for base, hook in hooks.items():
            type.__setattr__(base, "__init_subclass__", hook)


#: What an enumeration itself gives to its members.
_OF_MEMBERS = frozenset({"_value_", "_name_", "_sort_order_", "__objclass__"})

#: What members are made of, by the type that they are of beside their enumeration.
_BARE: dict[type, Callable[[Any], Any]] = {
    object: lambda _: None,
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    tuple: lambda member: tuple(tuple.__iter__(member)),
}


def _of_enum(kind: Any, reduced: Any) -> Any:
    """The reduction of an enumeration with its aliases and the attributes of its members.

    cloudpickle keeps the values of members alone, and makes members without what the program's ``__init__``
    and ``__new__`` have given them.
    """
    _, (bases, name, qualname, _, module, number, _), (names, slots), *_ = reduced
    members = kind.__members__
    take = _BARE.get(kind._member_type_)
    bare = None if take is None else {each: take(member) for each, member in members.items()}
    values = {each: member._value_ for each, member in members.items()}
    held = {
        each: {n: v for n, v in vars(member).items() if n not in _OF_MEMBERS}
        for each, member in members.items()
    }
    state = {n: v for n, v in names.items() if n not in members}, slots, held
    arguments = bases, name, qualname, values, module, number, bare
    return _make_enum, arguments, state, None, None, _enum_setstate


def _make_enum(
    bases: tuple[Any, ...],
    name: str,
    qualname: str,
    values: dict[str, Any],
    module: str,
    number: str,
    bare: dict[str, Any] | None,
) -> Any:
    """The enumeration, before its own names are set; its members are made by none of the program's code."""
    if bare is None:
        return _make_skeleton_enum(bases, name, qualname, values, module, number, None)
    metaclass: Any = type(bases[-1])
    names = metaclass.__prepare__(name, bases)
    names["__new__"], names["__init__"] = _new_member, _no_init
    for each, value in values.items():
        names[each] = bare[each], value
    made: Any = metaclass.__new__(metaclass, name, bases, names)
    made.__module__, made.__qualname__ = module, qualname
    return _lookup_class_or_track(number, made)


def _new_member(kind: Any, *arguments: Any) -> Any:
    bare, value = arguments[0] if len(arguments) == 1 else arguments
    base = kind._member_type_
    member = object.__new__(kind) if base is object else base.__new__(kind, bare)
    member._value_ = value
    return member


def _no_init(*_: Any) -> None:
    """Stands for the initializer of an enumeration whose members have what it has given them."""


def _enum_setstate(kind: Any, state: tuple[dict[str, Any], Any, dict[str, dict[str, Any]]]) -> Any:
    names, slots, held = state
    for each in ("__init__", "__new_member__"):
        if each not in names and each in vars(kind):
            type.__delattr__(kind, each)
    _class_setstate(kind, (names, slots))
    for each, attributes in held.items():
        own = vars(kind.__members__[each])
        for gone in own.keys() - _OF_MEMBERS - attributes.keys():
            del own[gone]
        own.update(attributes)
    return kind


def is_named(kind: type) -> bool:
    """Whether other ranks find a class by its name in a module."""
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "__main__" and getattr(module, kind.__qualname__, None) is kind
