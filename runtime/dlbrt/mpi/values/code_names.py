"""The names in a function's code: variables, attributes and constant keys, and how they are used."""

from __future__ import annotations

import dis
import functools
import itertools
import types
from dataclasses import field

from dlbrt.records import dataclass

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER", "STORE_ATTR", "DELETE_ATTR")
_SUBSCRIPTS = ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR")


@dataclass(slots=True)
class CodeNames:
    """The names in a piece of code.

    ``whole`` are those of variables, attributes and keys that are used otherwise than by a constant key,
    ``bare`` those used otherwise than by an attribute; ``of_modules`` are chains of attributes that begin at
    a global name.
    """

    used: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    of_modules: list[tuple[str, ...]] = field(default_factory=list)


@functools.lru_cache(maxsize=512)
def names_in(code: types.CodeType) -> CodeNames:
    """The names in a function's code and in the functions that it makes."""
    found = CodeNames()
    each = list(dis.get_instructions(code))
    chain: tuple[str, ...] = ()
    for number, instruction in enumerate(each):
        names = _loaded(instruction, each[number - 1] if number else None)
        if instruction.opname.startswith("MATCH_CLASS"):
            found.used.add("__dict__")  # a pattern takes attributes by a tuple of their names
        attribute = instruction.opname.startswith(("LOAD_ATTR", "LOAD_METHOD"))
        chain = (*chain, *names) if attribute and chain else ()
        if instruction.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")):
            chain = names
        if len(chain) > 1:
            found.of_modules.append(chain)
        elif names != ("type",) or not _looks_at_class(each[number + 1 :]):
            found.used.update(names)
        if not _has_constant_key(each[number + 1 : number + 3]):
            found.whole.update(names[-1:])
        if number + 1 == len(each) or not each[number + 1].opname.startswith(_ATTRIBUTES):
            found.bare.update(names[-1:])
        found.whole.update(names[:-1])
        found.bare.update(names[:-1])
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = names_in(constant)
            found.used |= inner.used
            found.whole |= inner.whole
            found.bare |= inner.bare
            found.of_modules += inner.of_modules
    return found


def _loaded(instruction: dis.Instruction, before: dis.Instruction | None) -> tuple[str, ...]:
    """The names that an instruction loads: variables, attributes, imported names, and a constant key."""
    name = instruction.opname
    if _is_subscript(instruction):
        key = before.argval if before is not None and before.opname.startswith("LOAD_CONST") else None
        return (key,) if isinstance(key, str) else ()
    if name.startswith(("LOAD_CONST", "LOAD_CLOSURE")) or not ("LOAD" in name or name.startswith("IMPORT_")):
        return ()
    value = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
    return tuple(each for each in value if isinstance(each, str))


def _is_subscript(instruction: dis.Instruction) -> bool:
    return instruction.opname in _SUBSCRIPTS or instruction.argrepr == "[]"


def _has_constant_key(following: list[dis.Instruction]) -> bool:
    return (
        len(following) == 2
        and following[0].opname.startswith("LOAD_CONST")
        and isinstance(following[0].argval, str)
        and _is_subscript(following[1])
    )


def _looks_at_class(following: list[dis.Instruction]) -> bool:
    """Whether ``type`` is called with a variable, or an attribute of one, and the class is asked something.

    A class that is only looked at makes no other object.
    """
    rest = [each for each in following if not each.opname.startswith(("PRECALL", "PUSH_NULL"))]
    if not rest or not rest[0].opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
        return False
    after = list(itertools.dropwhile(lambda each: each.opname.startswith("LOAD_ATTR"), rest[1:]))
    called = len(after) > 1 and after[0].opname.startswith("CALL")
    return called and after[1].opname.startswith(("LOAD_ATTR", "IS_OP"))
