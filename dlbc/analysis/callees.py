"""Which functions of the module a call may reach, and which calls run code that cannot be seen.

Functions are found by name, and methods by their name alone, whatever the receiver: the result may contain
functions that are not meant, but it misses none that is called by name. The proof assumes that unseen code,
functions of other packages that are in no table and values that are called, changes nothing that iterations
share; the status of the loop names this code.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

from dlbc.analysis.effects import FunctionSummary, direct_side_effects
from dlbc.analysis.uses import (
    Node,
    every_node,
    parameters_of,
    root_name,
    unparsed,
)
from dlbc.ir.access import AbstractValue, CallSite, OriginKind, RegionFacts
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.library.row import ResultKind
from dlbc.library.table import is_certain, is_pure, lookup

CONSTRUCTORS = ("__init__", "__new__", "__post_init__")

#: Keywords by which functions take a function that they call.
_FUNCTION_KEYWORDS = frozenset({"key", "func", "func1d", "funclist", "function", "pyfunc"})

#: Methods that run where attributes are read or set, classes derived, and items taken one after the other.
_HIDDEN_METHODS = frozenset(
    f"__{name}__"
    for name in (
        *("set", "get", "delete", "setattr", "delattr", "getattr", "getattribute"),
        *("init_subclass", "set_name", "iter", "next"),
    )
)


#: Decorators that leave the effects of a function as they are, beside those of packages in the tables.
_PLAIN_DECORATORS = ("numba.", "abc.", "typing.", "dataclasses.", "contextlib.")


def in_text_order(functions: Iterable[FunctionSummary]) -> tuple[FunctionSummary, ...]:
    """The functions in the order in which they stand in the file."""
    return tuple(sorted(functions, key=_place))


def _place(function: FunctionSummary) -> tuple[int, int]:
    return getattr(function.node, "lineno", 0), getattr(function.node, "col_offset", 0)


def mention_of(function: FunctionSummary, body: Sequence[ast.stmt]) -> ast.expr | ast.stmt:
    """Where a body names the function; if nowhere, its first call, which may lead to the function."""
    nodes = [n for s in body for n in every_node(s)]
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name == function.name:
                return node
    return next((n for n in nodes if isinstance(n, ast.Call)), body[0])


def mentioned_functions(
    body: Iterable[ast.stmt], module: ModuleNames, besides: Set[ast.AST] = frozenset()
) -> frozenset[ast.AST]:
    """Every function of the module that the body names, and every method that it names as an attribute.

    ``besides``: mentions that do not count.
    """
    mentioned: set[ast.AST] = set()
    for node in (n for s in body for n in every_node(s) if n not in besides):
        if isinstance(node, ast.Name):
            mentioned.update(module.functions.get(node.id, ()))
            if node.id in module.classes:
                mentioned.update(_constructors(module.classes[node.id], module))
        elif isinstance(node, ast.Attribute):
            mentioned.update(module.methods.get(node.attr, ()))
    return frozenset(mentioned)


def functions_run(facts: RegionFacts, body: list[ast.stmt], module: ModuleNames) -> frozenset[ast.AST]:
    """Every function of the module that the body may run: by name, or through a value.

    Calls that are expanded do not count, but those inside them do.
    """
    expansions = facts.expansions
    code = (*body, *(s for e in expansions.values() for s in e.body))
    expanded = {*expansions, *(n.func for n in expansions if isinstance(n, ast.Call))}
    called = {f for call in facts.calls for f, _ in callees(call, module)}
    opaque = any(is_opaque(call, module) for call in facts.calls)
    return (
        mentioned_functions(code, module, expanded)
        | called
        | (module.implicit_calls.escaping if opaque else set())
    )


def _constructors(
    owner: ast.ClassDef, module: ModuleNames, seen: frozenset[ast.ClassDef] = frozenset()
) -> Iterator[FunctionNode]:
    """What making an object runs; for a class with bases, the constructors of any class of the module."""
    for name in CONSTRUCTORS:
        own = [f for f in module.methods.get(name, ()) if f in owner.body]
        yield from own or (module.methods.get(name, ()) if owner.bases else ())
    for factory in _factories(owner, module):
        if isinstance(factory, ast.Lambda):
            yield factory
        elif isinstance(factory, ast.Name):
            yield from module.functions.get(factory.id, ())
            made = module.classes.get(factory.id)
            if made is not None and made not in seen:
                yield from _constructors(made, module, seen | {owner, made})
    for meta in filter(None, (_class_of(node, module) for node in _metaclasses(owner, module))):
        above = _lineage(meta, module)
        yield from (f for f in module.methods.get("__call__", ()) if any(f in cls.body for cls in above))


def _factories(owner: ast.ClassDef, module: ModuleNames) -> Iterator[ast.expr]:
    """What makes the default values of the fields of a dataclass."""
    for statement in (s for cls in _lineage(owner, module) for s in cls.body):
        match statement:
            case (
                ast.AnnAssign(value=ast.Call(keywords=keywords))
                | ast.Assign(value=ast.Call(keywords=keywords))
            ):
                yield from (k.value for k in keywords if k.arg in ("default_factory", "factory"))


def _lineage(owner: ast.ClassDef, module: ModuleNames) -> list[ast.ClassDef]:
    """A class and those of the module that it is derived from."""
    found = [owner]
    for cls in found:  # the list grows
        bases = (_class_of(base, module) for base in cls.bases)
        found += [base for base in bases if base is not None and base not in found]
    return found


def _class_of(node: ast.expr, module: ModuleNames) -> ast.ClassDef | None:
    return module.classes.get(node.id) if isinstance(node, ast.Name) else None


def _metaclasses(owner: ast.ClassDef, module: ModuleNames) -> list[ast.expr]:
    return [k.value for cls in _lineage(owner, module) for k in cls.keywords if k.arg == "metaclass"]


def _unseen_makers(owner: ast.ClassDef, module: ModuleNames) -> Iterator[str]:
    """What may run where an object is made and is not seen: bases, metaclasses, decorators of the class."""
    lineage = _lineage(owner, module)
    for node in (*(base for cls in lineage for base in cls.bases), *_metaclasses(owner, module)):
        base = node.value if isinstance(node, ast.Subscript) else node  # ``Generic[T]``
        if not _seen(base, module):
            yield _text(node)
    for decorator in (d for cls in lineage for d in cls.decorator_list):
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        if root_name(node) not in module.imports or not _seen(node, module, _PLAIN_DECORATORS):
            yield _text(node)


def callees(call: CallSite, module: ModuleNames) -> tuple[tuple[FunctionNode, bool], ...]:
    """The functions of the module that a call may reach, and whether the receiver is their first argument."""
    name = call.function
    if name.startswith("."):
        methods = module.methods.get(name[1:], ())
        return tuple((f, not _is_static(f)) for f in methods if not _is_setter(f))
    reached: list[tuple[FunctionNode, bool]] = [(f, False) for f in module.functions.get(name, ())]
    if name in module.classes:
        reached += [(f, True) for f in _constructors(module.classes[name], module)]
    if not reached and call.receiver is not None:  # an object that is called
        reached = [(f, True) for f in module.methods.get("__call__", ())]
    return tuple(reached)


def is_opaque(call: CallSite, module: ModuleNames) -> bool:
    """Whether the call may reach functions other than by name: it calls a value, or passes one on."""
    name, node = call.function, call.node
    if lookup(name).calls is not None:
        callbacks = (c for c in callbacks_of(node, name) if not isinstance(c, ast.Lambda | ast.Constant))
        return not all(_known(callback, module) for callback in callbacks)
    if name.startswith("."):
        implicit, methods = module.implicit_calls, module.methods.get(name[1:], ())
        replaced = any(getattr(f, "name", "") in implicit.rebindable for f in methods)
        return replaced or name[1:] in implicit.callable_attributes
    if name:
        return not (name in module.imports or "." in name or is_module_callable(name, module))
    return not (isinstance(node.func, ast.Lambda) or _known(node.func, module))


def callbacks_of(node: ast.Call, function: str) -> list[ast.expr]:
    """The arguments that are functions which ``function``, given by its full name, calls."""
    places = lookup(function).calls or ()
    positional = [node.args[place] for place in places if place < len(node.args)]
    spread = [a for a in node.args if isinstance(a, ast.Starred)] if places else []
    named = [k.value for k in node.keywords if k.arg in _FUNCTION_KEYWORDS]
    return list(dict.fromkeys([*positional, *spread, *named]))


def is_module_callable(name: str, module: ModuleNames) -> bool:
    """Whether the name means functions or classes of the module and nothing else."""
    defined = name in module.functions or name in module.classes
    return defined and name not in module.implicit_calls.rebindable


def _known(node: ast.expr, module: ModuleNames) -> bool:
    """Whether an expression names a function, class or import of the module, or a builtin."""
    if isinstance(node, ast.Attribute):
        return root_name(node) in module.imports
    return isinstance(node, ast.Name) and (
        is_module_callable(node.id, module) or node.id in module.imports or module.builtin(node.id)
    )


def address_taken(body: list[ast.stmt], module: ModuleNames) -> Iterator[tuple[FunctionNode, ast.expr]]:
    """Functions that the body mentions without calling them; code that they are passed to may call them."""
    called = {n.func for s in body for n in every_node(s) if isinstance(n, ast.Call)}
    for node in (n for s in body for n in every_node(s)):
        if node in called or not isinstance(node, ast.Name | ast.Attribute):
            continue
        if isinstance(node, ast.Attribute) and node.attr in module.implicit_calls.properties:
            continue
        table = module.functions if isinstance(node, ast.Name) else module.methods
        functions = table.get(node.id if isinstance(node, ast.Name) else node.attr, ())
        yield from ((f, node) for f in functions)


def decorators_of(function: FunctionNode) -> list[ast.expr]:
    """The decorators of a function; a lambda has none."""
    return [] if isinstance(function, ast.Lambda) else function.decorator_list


def _is_setter(function: FunctionNode) -> bool:
    attributes = (d.attr for d in decorators_of(function) if isinstance(d, ast.Attribute))
    return any(attribute in ("setter", "deleter") for attribute in attributes)


def _is_static(function: FunctionNode) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators_of(function))


def mutated_arguments(
    call: CallSite, module: ModuleNames, summaries: Mapping[ast.AST, FunctionSummary]
) -> Iterator[tuple[FunctionSummary, AbstractValue, ast.expr]]:
    """The arguments of a call that a function of the module may change, with the function."""
    for function, bound in callees(call, module):
        summary = summaries.get(function)
        if summary is None or not summary.mutated_parameters:
            continue
        names = [p.arg for p in parameters_of(function)]
        if bound:
            mutates_receiver = bool(names) and names[0] in summary.mutated_parameters
            if mutates_receiver and call.receiver is not None and call.receiver.points_to:
                yield summary, call.receiver, call.node.func
            names = names[1:]
        star = function.args.vararg is not None or function.args.kwarg is not None
        for key, value, node in call.arguments:
            loose = star or isinstance(node, ast.Starred) or key == "**"
            name = names[key] if isinstance(key, int) and key < len(names) else key
            if loose or name in summary.mutated_parameters:
                yield summary, value, node


def unseen_callee(call: CallSite, module: ModuleNames) -> str | None:
    """The text of the unseen code that the call may run; None if all of it can be seen."""
    name, node = call.function, call.node
    row = lookup(name)
    if row.calls is not None:
        return next((_text(c) for c in callbacks_of(node, name) if not _seen(c, module)), None)
    shown = _text(node.func)
    if is_opaque(call, module):
        return shown
    found = callees(call, module)
    if not name or (row.is_new and not name.startswith(".")) or found or name in module.classes:
        makers = _unseen_makers(module.classes[name], module) if name in module.classes else ()
        decorators = (d for f, _ in found for d in _unseen_decorators(f, module))
        return next(chain(makers, decorators), None)
    if any(direct_side_effects(call)):
        return None
    if name.startswith("."):
        outer = () if call.receiver is None else call.receiver.points_to
        outside = any(o.kind is not OriginKind.CLOSURE for o in outer)
        looks = row.is_new or row.is_reader or row.result in (ResultKind.SAME, ResultKind.HOLDER)
        return shown if outside and not looks else None
    return None if is_pure(name) else shown


def watched_in(
    facts: RegionFacts, module: ModuleNames, apart: Container[ast.AST] = ()
) -> Iterator[tuple[str, Node]]:
    """What the code runs or sets that the compiler does not see for certain, calls ``apart`` left out.

    An attribute set on anything but a name that the code has been handed is one: it may be a class that is
    changed (``type(self).made += 1``).
    """
    for call in facts.calls:
        if call.node not in apart and (text := _watched_callee(call, module)) is not None:
            yield text, call.node
    for change in facts.mutations:
        match change.node:
            case ast.Attribute(value=base) if not (isinstance(base, ast.Name) and change.origins):
                yield _text(change.node), change.node


def _watched_callee(call: CallSite, module: ModuleNames) -> str | None:
    """The text of what the call runs and the compiler does not see for certain; None if it sees all of it."""
    if (unseen := unseen_callee(call, module)) is not None:
        return unseen
    if callees(call, module) or call.function in module.classes or not call.function:
        return None
    match call.node.func:
        case ast.Attribute(value=ast.Name(id=name)) if hasattr(builtins, name) and module.builtin(name):
            return _text(call.node.func)  # a method called through its class: ``list.append(L, i)``
    own = call.function.startswith(".") and call.receiver is not None and not call.receiver.points_to
    if (own and lookup(call.function).known) or is_certain(call.function, call.node):
        return None
    return None if _makes_own_generator(call) else _text(call.node.func)


def _makes_own_generator(call: CallSite) -> bool:
    """Whether the call makes a random generator of what this iteration alone has, as of its index.

    What numpy's is handed may otherwise be a generator, which is given back as it is, or a seed that is kept.
    """
    of_its_own = call.function == "random.Random" or not any(v.points_to for _, v, _ in call.arguments)
    return lookup(call.function).generator and of_its_own


def watched_methods(module: ModuleNames) -> Iterator[tuple[str, int]]:
    """Methods that run where the text shows no call, and what puts methods into classes, with their lines.

    A ``cached_property`` keeps in the object what it gives.
    """
    for name, methods in sorted(module.methods.items()):
        kept = (unparsed(d).endswith("cached_property") for f in methods for d in decorators_of(f))
        if name in _HIDDEN_METHODS or any(kept):
            yield name, methods[0].lineno
    yield from (("setattr", call.lineno) for call in module.implicit_calls.attribute_setters[:1])


def _text(node: ast.expr) -> str:
    """The expression on one line."""
    return " ".join(unparsed(node).split())


def _seen(node: ast.expr, module: ModuleNames, besides: tuple[str, ...] = ()) -> bool:
    """Whether an expression is a function of the module, or a function in the tables."""
    if isinstance(node, ast.Lambda | ast.Constant):
        return True
    root, _, rest = unparsed(node).partition(".")
    if root in module.imports:
        full = f"{module.imports[root]}{'.' if rest else ''}{rest}"
        return is_pure(full) or full.startswith(besides)
    if isinstance(node, ast.Attribute) and not besides and node.attr not in module.methods:
        row = lookup(f".{node.attr}")  # a method that only reads: `max(counts, key=counts.get)`
        return row.is_new or row.is_reader
    known = is_module_callable(root, module) or module.builtin(root)
    return known and isinstance(node, ast.Name)


def _unseen_decorators(function: FunctionNode, module: ModuleNames) -> Iterator[str]:
    """The unseen decorators, which may run around the function."""
    for decorator in decorators_of(function):
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        accessor = isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter")
        if not accessor and not _seen(node, module, _PLAIN_DECORATORS):
            yield _text(node)
