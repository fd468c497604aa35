"""Find implicit calls: code that runs, and objects that iterations share, without being named at that place.

Theory: a call of a value (a parameter, an element of a container, the result of a decorator) may reach every
function whose address is taken, that is, which is mentioned other than to be called. Operators run special
methods, attributes run properties; an attribute of a class is one object for all instances. Everything is
found by name, so the result may contain too much, never too little.

Law of `check_implicit_calls`: a function that changes its arguments may be called by its name alone, where
the arguments are seen. An iterator from before the loop, and names looked up by text, are refused wherever
they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence, Set

from dlbc.analysis.callees import CONSTRUCTORS, address_taken, is_opaque
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.uses import every_node, own_nodes, unparsed
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import RegionFacts
from dlbc.ir.region import FunctionNode, ImplicitCalls, ModuleNames
from dlbc.library.row import EffectKind
from dlbc.library.table import is_library, lookup
from dlbc.source import SourcePlace

Functions = ast.FunctionDef | ast.AsyncFunctionDef

#: Special methods whose calls are visible in the text: at calls, stores, `with` and iteration.
_VISIBLE_WORDS = """
    init new post_init init_subclass set_name class_getitem call enter exit aenter aexit iter next aiter anext
    setitem delitem setattr delattr set delete del iadd isub imul imatmul itruediv ifloordiv imod ipow iand
    ior ixor ilshift irshift getstate setstate reduce reduce_ex
"""
_VISIBLE = frozenset(f"__{word}__" for word in _VISIBLE_WORDS.split())
#: Only functions of the module `copy` run these.
_COPIERS = ("__copy__", "__deepcopy__")
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
_TAKERS = ("getattr", "methodcaller", "attrgetter")
_PROPERTIES = ("property", "cached_property", "abstractproperty")

#: Builtins through which a function may change names that it does not mention.
_BY_TEXT = ("exec", "eval", "globals")


def find_implicit_calls(tree: ast.Module, module: ModuleNames) -> ImplicitCalls:
    """The implicit calls of the whole module."""
    nodes = list(every_node(tree))
    called = {n.func for n in nodes if isinstance(n, ast.Call)}
    called |= {d for n in nodes if isinstance(n, Functions | ast.ClassDef) for d in n.decorator_list}
    passive = _passive(nodes)
    named = {f for fs in module.functions.values() for f in fs}
    taken = [n for n in nodes if isinstance(n, ast.Name | ast.Attribute) and n not in called | passive]
    taken = [n for n in taken if isinstance(n.ctx, ast.Load)]
    lambdas = tuple(n for n in nodes if isinstance(n, ast.Lambda) and n not in named)
    properties = frozenset(n for n, fs in module.methods.items() if any(map(_is_property, fs)))
    escaping = {f for n in taken for f in _functions_of(n, module, properties)} | set(lambdas)
    escaping |= {*_by_text(nodes, module), *module.methods.get("__call__", ())}  # any object may escape
    values = frozenset(_stored_attributes(nodes))
    return ImplicitCalls(
        escaping=frozenset(escaping),
        lambdas=lambdas,
        escaping_methods={w: n for n in taken for w in _effective_name(n, module) if w not in values},
        rebindable=frozenset(_rebindable(nodes, module)),
        callable_attributes=values,
        special_methods=frozenset(
            f for n, fs in module.methods.items() if _is_implicit(n, module) for f in fs
        ),
        properties=properties,
        attribute_setters=tuple(
            n for n in nodes if isinstance(n, ast.Call) and unparsed(n.func).endswith("setattr")
        ),
        cache_readers=tuple(n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "cache_info"),
        mutable_class_attributes=dict(_mutable_class_attributes(tree)),
    )


def _passive(nodes: list[ast.AST]) -> set[ast.AST]:
    """Mentions through which no value escapes: owners of attributes, hints, bases, tests of a type."""
    found: set[ast.AST] = set()
    for node in nodes:
        match node:
            case ast.Attribute(value=value):
                found.add(value)
            case ast.arg(annotation=ast.expr() as hint) | ast.AnnAssign(annotation=hint):
                found |= set(ast.walk(hint))
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                found |= set(ast.walk(kinds))
            case ast.ClassDef(bases=bases):
                found |= set(bases)
            case ast.ExceptHandler(type=ast.expr() as kind):
                found |= set(ast.walk(kind))
        if isinstance(node, Functions) and node.returns is not None:
            found |= set(ast.walk(node.returns))
    return found


def _functions_of(
    node: ast.Name | ast.Attribute, module: ModuleNames, properties: frozenset[str]
) -> Iterator[FunctionNode]:
    if isinstance(node, ast.Attribute):
        yield from () if node.attr in properties else module.methods.get(node.attr, ())
        return
    yield from module.functions.get(node.id, ())
    if node.id in module.classes:
        owner = module.classes[node.id]
        yield from (f for name in _CONSTRUCTORS for f in module.methods.get(name, ()) if f in owner.body)


def _by_text(nodes: list[ast.AST], module: ModuleNames) -> Iterator[FunctionNode]:
    """Methods that `getattr` and the like may take; all of them where the text is not a literal."""
    for node in nodes:
        if isinstance(node, ast.Call) and unparsed(node.func).split(".")[-1] in _TAKERS:
            texts = node.args[1:2] if unparsed(node.func) == "getattr" else node.args
            for text in texts:
                known = isinstance(text, ast.Constant)
                for name, methods in module.methods.items():
                    if not known or name == text.value:  # type: ignore[attr-defined]  # a constant
                        yield from methods


def _effective_name(node: ast.Name | ast.Attribute, module: ModuleNames) -> Iterator[str]:
    """The name of a library function or method whose call has an effect."""
    full = module.imported_name(unparsed(node))
    if is_library(full):
        name, row, certain = unparsed(node), lookup(full), True
    elif isinstance(node, ast.Attribute):
        name, row = node.attr, lookup(f".{node.attr}")
        certain = row.effect is not EffectKind.DRAW or row.distinct  # `args.seed` and `p.beta` are plain data
    else:
        name, row = node.id, lookup(f"builtins.{node.id}")
        certain = row.effect is not EffectKind.FILE and module.builtin(name)  # `open` may well read
    if row.is_effective and certain:
        yield name


def _rebindable(nodes: list[ast.AST], module: ModuleNames) -> Iterator[str]:
    """Names that something other than an undecorated `def` binds too."""
    plain = {
        t for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda) for t in n.targets
    }
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in plain:
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, Functions) and any(_replaces(d, module) for d in node.decorator_list):
            yield node.name


def _replaces(decorator: ast.expr, module: ModuleNames) -> bool:
    """Whether a decorator is defined in this module: such a one may return any function."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    while isinstance(node, ast.Attribute) and node.attr not in module.methods:
        node = node.value
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name in ("setter", "getter", "deleter", *_PROPERTIES):
        return False
    return name in module.functions or name in module.classes or isinstance(node, ast.Attribute)


def _stored_attributes(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    yield from (n.id for n in own_nodes([statement]) if isinstance(n, ast.Name))


def _is_property(function: FunctionNode) -> bool:
    marks = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(unparsed(m).split(".")[-1] in _PROPERTIES for m in marks)


def _is_implicit(name: str, module: ModuleNames) -> bool:
    if name in _COPIERS and not any(full.partition(".")[0] == "copy" for full in module.imports.values()):
        return False
    return name.startswith("__") and name.endswith("__") and name not in _VISIBLE


def _mutable_class_attributes(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for owner in (n for n in every_node(tree) if isinstance(n, ast.ClassDef)):
        if any(word in unparsed(d) for d in owner.decorator_list for word in ("dataclass", "define")):
            continue
        own = set(_attributes_of_self(owner))
        for statement in owner.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and not _immutable(statement.value):
                for node in own_nodes([statement]):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in own:
                        yield node.id, owner.name


def _attributes_of_self(owner: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name


def _immutable(node: ast.expr | None) -> bool:
    match node:
        case None | ast.Constant() | ast.Lambda() | ast.Name() | ast.Attribute() | ast.JoinedStr():
            return True
        case ast.Tuple(elts=parts):
            return all(map(_immutable, parts))
        case ast.UnaryOp(operand=operand):
            return _immutable(operand)
        case ast.BinOp(left=left, right=right):
            return _immutable(left) and _immutable(right)
    return False


def check_implicit_calls(
    context: AnalysisContext,
    facts: RegionFacts,
    functions: Sequence[FunctionSummary],
    added_to: Set[str],
    writing: Sequence[SourcePlace],
) -> tuple[Diagnostic, ...]:
    """Every implicit effect, once per place; ``functions`` are those that the body may run.

    ``added_to``: containers that the body reads only to contribute to them. ``writing``: where the body
    writes to files; an open file is no iterator there.
    """
    check = _Check(context, functions, writing)
    start = context.place_of(context.body[0])
    found = [
        *check.operators(start),
        *check.passed_functions(),
        *check.values(facts, start),
        *check.by_text(start),
        *check.iterators(added_to),
        *check.identities(),
    ]
    return tuple({(f.code, f.place): f for f in reversed(found)}.values())


class _Check:
    def __init__(
        self, context: AnalysisContext, functions: Sequence[FunctionSummary], writing: Sequence[SourcePlace]
    ) -> None:
        self._context, self._module = context, context.module
        self._functions, self._writing = functions, writing
        changing = (f for f in functions if f.mutated_parameters and f.name not in CONSTRUCTORS)
        self._changing = {f.node: f for f in changing}

    def operators(self, place: SourcePlace) -> Iterator[Diagnostic]:
        """Special methods that change the object: any operator may run them."""
        for node, function in self._changing.items():
            if node in self._module.implicit_calls.special_methods:
                yield self._changes(function, place)

    def passed_functions(self) -> Iterator[Diagnostic]:
        """Functions that the body passes to others: the arguments of their calls are not seen."""
        for node, mention in address_taken(self._context.body, self._module):
            if node in self._changing:
                yield self._changes(self._changing[node], self._context.place_of(mention))

    def values(self, facts: RegionFacts, start: SourcePlace) -> Iterator[Diagnostic]:
        """Calls of values, in the body or in functions that it runs: they may reach any escaping function."""
        opaque = (c.node for c in facts.calls if is_opaque(c, self._module))
        calls = [(node, self._context.place_of(node)) for node in opaque]
        calls += [(f.calls_values, start) for f in self._functions if f.calls_values is not None]
        implicit = self._module.implicit_calls
        asserted = self._context.loop.annotation.assume_independent is not None  # and calls are watched
        escaping = [f for node, f in self._changing.items() if node in implicit.escaping and not asserted]
        for call, place in calls:
            name = ast.unparse(call.func)
            yield from (self._changes(function, place) for function in escaping)
            for word, mention in implicit.escaping_methods.items():
                note = self._context.note(mention, "handed on here")
                yield report("DLB418", place, "", (note,), function=name, word=word)

    def _changes(self, function: FunctionSummary, place: SourcePlace) -> Diagnostic:
        note = self._context.note(function.node, "defined here")  # type: ignore[arg-type]
        return report("DLB419", place, "", (note,), function=function.name)

    def by_text(self, place: SourcePlace) -> Iterator[Diagnostic]:
        """Functions that look names up by text."""
        for function in self._functions:
            for name in _BY_TEXT:
                if name in function.reads and self._module.builtin(name):
                    note = self._context.note(function.reads[name], f"in `{function.name}`")
                    yield report("DLB209", place, "", (note,), name=name)

    def iterators(self, added_to: Set[str]) -> Iterator[Diagnostic]:
        """Iterators from before the loop, and dictionaries that grow where they are read."""
        growing = self._module.growing_dicts
        for node in (n for s in self._context.body for n in every_node(s)):
            if isinstance(node, ast.Subscript) and self._holds(node.value, growing):
                name = ast.unparse(node.value)
                if name not in added_to:
                    yield report("DLB420", self._context.place_of(node), name=name)
            if isinstance(node, ast.expr) and self._holds(node, self._module.iterators):
                place = self._context.place_of(node)
                if not any(map(place.within, self._writing)):
                    yield report("DLB417", place, name=ast.unparse(node))

    def identities(self) -> Iterator[Diagnostic]:
        """Numbers by `id` that leave the iteration: the object has another one on another rank.

        Two of them may be compared, and one may be looked up in what the iteration itself has made.
        """
        if not self._module.builtin("id"):
            return
        given_back = (n for f in self._functions for n in every_node(f.node) if isinstance(n, ast.Return))
        for root in (*self._context.body, *given_back):
            own = self._context.names.temporaries if root in self._context.body else frozenset[str]()
            for node, around in _with_parents(root):
                match node:
                    case ast.Call(func=ast.Name(id="id")) if not _stays_inside(around, own):
                        place = self._context.place_of(node if root in self._context.body else self._start)
                        yield report("DLB428", place, call=ast.unparse(node))

    @property
    def _start(self) -> ast.stmt:
        return self._context.body[0]

    def _holds(self, node: ast.expr, kind: frozenset[ast.AST | str]) -> bool:
        places: Iterable[ast.AST | str] = ()
        if isinstance(node, ast.Name):
            places = self._context.names.bindings.get(node.id, ())
        elif isinstance(node, ast.Attribute) and not self._module.imported_name(unparsed(node.value)):
            places = (node.attr,)
        return not kind.isdisjoint(places)


def _with_parents(root: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes of a tree below its root, each with the one around it."""
    for node in every_node(root):
        for child in ast.iter_child_nodes(node):
            yield child, node


def _stays_inside(around: ast.AST, own: Container[str]) -> bool:
    """Whether an identity is compared, or looked up in a container with one of the names ``own``."""
    match around:
        case ast.Compare():
            return True
        case ast.Subscript(value=ast.Name(id=name)) | ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in own
    return False
