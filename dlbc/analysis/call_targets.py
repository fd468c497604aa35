"""Which function of the program a call runs, in the file itself or in the program's own modules.

Functions are found by Python's scope rules, through imports too. A method is looked for in the class of its
receiver, where the text shows that, else by its name, if only one class of the program has it; what an object
really is shows at run time, so that the call is found under a guard. Functions that may be replaced or are
wrapped, and generators, have no target: what they do is not what their text says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from dlbrt.records import dataclass

from dlbc.analysis.effects import NOT_ITS_OWN, FunctionSummaries
from dlbc.analysis.names import Functions, bindings_within
from dlbc.analysis.uses import (
    cached_on_node,
    children_of,
    every_node,
    own_nodes,
    pairs_assigned,
    parameters_of,
    root_name,
    unparsed,
)
from dlbc.ir.loop import Module
from dlbc.ir.region import ModuleNames
from dlbc.library.table import lookup
from dlbc.source import Source

#: Decorators under which a function does what its text says.
_PLAIN_DECORATORS = ("staticmethod", "property", "numba.njit", "numba.jit")

#: How often a name is imported from one module into another.
_DEEPEST = 8


@dataclass(frozen=True)
class ProgramModule:
    """A module of the program with the facts about it; ``name`` is empty for the file itself."""

    name: str
    module: Module
    names: ModuleNames
    summaries: FunctionSummaries

    def path_to(self, function: ast.AST) -> tuple[ast.AST, ...]:
        """The functions and classes around a function, the outermost first, and the function itself."""
        ((paths,)) = cached_on_node(self.module.tree, "_dlbc_paths", lambda tree: [dict(_paths(tree, ()))])
        return paths[function]


def _paths(node: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    if isinstance(node, Functions | ast.ClassDef | ast.Lambda):
        around = (*around, node)
        yield node, around
    for child in children_of(node):
        yield from _paths(child, around)


#: The module that a dotted name begins with in a file, and the rest of the name; None for a library.
FindModule = Callable[[str, Source], tuple[Module, str] | None]


def module_name(path: str) -> str:
    """A module's name, without those of its packages."""
    file = PurePath(path)
    return file.parent.name if file.stem == "__init__" else file.stem


@dataclass(frozen=True)
class CallTarget:
    """The function that a call runs. ``bound``: the receiver is its first argument.

    ``owner``: for a method of an object, the class in which it was found, as ``__qualname__`` has it;
    ``by_name``: the text does not show that the object is of this class.
    """

    function: ast.FunctionDef
    module: ProgramModule
    bound: bool = False
    owner: str = ""
    by_name: bool = False

    @property
    def is_property(self) -> bool:
        """Whether taking an attribute runs it."""
        return "property" in map(unparsed, self.function.decorator_list)


@dataclass(frozen=True)
class CodePlace:
    """Where code stands: its module, and the nodes around it, the outermost first.

    ``inner``: names that comprehensions and lambdas in it bind.
    """

    module: ProgramModule
    path: tuple[ast.AST, ...]
    inner: frozenset[str] = frozenset()

    def bindings(self, name: str) -> tuple[Sequence[ast.AST], ast.AST | None]:
        """The nodes that bind a name, and the function they are local to, if any."""
        return ((), None) if name in self.inner else bindings_within(name, self.path, self.module.names)

    def imported(self, name: str) -> str:
        """The full name of what an import binds to ``name``; empty for anything else."""
        nodes, scope = self.bindings(name)
        return self.module.names.imports.get(name, "") if nodes and scope is None else ""


_Class = tuple[ast.ClassDef, ProgramModule]


class Program:
    """The file that is transformed and the program's own modules, which are read when they are needed."""

    def __init__(
        self,
        file: ProgramModule,
        load: Callable[[str, ProgramModule], tuple[ProgramModule, str] | None],
    ) -> None:
        self.file, self.load = file, load
        self._modules: list[ProgramModule] = []
        self._classes: dict[ast.AST, _Class | None] = {}

    @property
    def modules(self) -> Sequence[ProgramModule]:
        """The file and the modules that it imports, directly or through others."""
        if not self._modules:
            self._modules = [self.file]
            for importer in self._modules:  # the list grows
                for name in importer.names.imports.values():
                    found = self.load(name, importer)
                    if found is not None and not any(found[0] is known for known in self._modules):
                        self._modules.append(found[0])
        return self._modules

    def target_of(self, call: ast.Call, place: CodePlace) -> CallTarget | None:
        """The function that a call at that place runs; None where the text does not show it."""
        match call.func:
            case ast.Name(id="len") if place.module.names.builtin("len") and len(call.args) == 1:
                owner = self._class_of(call.args[0], place)
                return None if owner is None else self._method("__len__", owner)
            case ast.Name(id=name):
                return self._named(name, place)
            case ast.Attribute(value=receiver, attr=name):
                root, _, rest = unparsed(call.func).partition(".")
                package = place.imported(root) if root_name(call.func) else ""
                if package:
                    return self._imported(f"{package}.{rest}", place.module)
                return self.method_of(receiver, name, place)
        return None

    def method_of(self, receiver: ast.expr, name: str, place: CodePlace) -> CallTarget | None:
        """The method, or property, ``name`` of an object; the class itself may stand for the object."""
        if isinstance(receiver, ast.Name) and (owner := self._class_named(receiver.id, place)) is not None:
            target = self._method(name, owner)
            return None if target is None else CallTarget(target.function, target.module)
        owner = self._class_of(receiver, place)
        if owner is not None:
            return self._method(name, owner)
        modules = [self.file] if lookup(f".{name}").known else self.modules
        having = [(c, m) for m in modules for c in m.names.classes.values() if _own_method(c, name)]
        target = self._method(name, having[0]) if len(having) == 1 else None
        return None if target is None else replace(target, by_name=True)

    def property_of(self, node: ast.Attribute, place: CodePlace) -> CallTarget | None:
        """The method that taking an attribute runs."""
        named = node.attr in self.file.names.implicit_calls.properties
        if not named and self._class_of(node.value, place) is None:
            return None
        target = self.method_of(node.value, node.attr, place)
        return target if target is not None and target.is_property else None

    def _named(self, name: str, place: CodePlace) -> CallTarget | None:
        match self._definition(name, place):
            case ast.FunctionDef() as function, module:
                return self._plain(CallTarget(function, module))
        return None

    def _imported(self, full: str, importer: ProgramModule) -> CallTarget | None:
        found = self.load(full, importer)
        if found is None or found[1] in self.attributes_set(found[0]):  # helpers.fill = other
            return None
        return self._named(found[1], CodePlace(found[0], ()))

    def attributes_set(self, module: ProgramModule) -> frozenset[str]:
        """Attributes that the file or the module sets."""
        return frozenset().union(*(m.names.implicit_calls.callable_attributes for m in (self.file, module)))

    def _class_named(self, name: str, place: CodePlace) -> _Class | None:
        match self._definition(name, place):
            case ast.ClassDef() as owner, module:
                return owner, module
        return None

    def _definition(self, name: str, place: CodePlace) -> tuple[ast.AST, ProgramModule] | None:
        """The only definition of a name, in the module that it may be imported from."""
        for _ in range(_DEEPEST):
            nodes, _ = place.bindings(name)
            if len(nodes) != 1 or name in place.module.names.declared:
                return None
            if not isinstance(nodes[0], ast.ImportFrom):
                return nodes[0], place.module
            found = self.load(place.imported(name), place.module)
            if found is None:
                return None
            place, name = CodePlace(found[0], ()), found[1]
        return None

    def _class_of(self, receiver: ast.expr, place: CodePlace) -> _Class | None:
        """The class of an object, as far as the only binding of a name, or of an attribute, shows it."""
        if isinstance(receiver, ast.Attribute):
            holder = self._class_of(receiver.value, place)
            return None if holder is None else self._class_held(receiver.attr, holder[1])
        if not isinstance(receiver, ast.Name):
            return None
        nodes, scope = place.bindings(receiver.id)
        if len(nodes) != 1:
            return None
        if nodes[0] not in self._classes:
            self._classes[nodes[0]] = self._class_bound(nodes[0], scope, place)
        return self._classes[nodes[0]]

    def _class_bound(self, node: ast.AST, scope: ast.AST | None, place: CodePlace) -> _Class | None:
        """The class of the object that ``node``, the only one to bind its name in a scope, gives to it."""
        if isinstance(node, ast.arg) and isinstance(scope, Functions) and _is_self(scope, node):
            around = place.module.path_to(scope)
            if len(around) > 1 and isinstance(around[-2], ast.ClassDef):
                return around[-2], place.module
        if isinstance(node, ast.arg):
            hint = node.annotation
            return self._class_named(hint.id, place) if isinstance(hint, ast.Name) else None
        body = scope.body if isinstance(scope, Functions) else place.module.module.tree.body
        for statement in own_nodes(body):
            for made, value in pairs_assigned(statement):
                if made is node:
                    return self._class_made(value, place)
        return None

    def _class_made(self, value: ast.expr, place: CodePlace) -> _Class | None:
        match value:
            case ast.Call(func=ast.Name(id=name)):
                return self._class_named(name, place)
        return None

    def _class_held(self, attribute: str, module: ProgramModule) -> _Class | None:
        """The class of what a module assigns to an attribute, if it does so once."""
        pairs = (pair for node in every_node(module.module.tree) for pair in pairs_assigned(node))
        values = [v for target, v in pairs if isinstance(target, ast.Attribute) and target.attr == attribute]
        return self._class_made(values[0], CodePlace(module, ())) if len(values) == 1 else None

    def _method(self, name: str, owner: _Class) -> CallTarget | None:
        """The method that objects of a class have, found along its first bases."""
        cls, module = owner
        for _ in range(_DEEPEST):
            found = _own_method(cls, name)
            if found is not None:
                path = module.path_to(cls)
                nested = not all(isinstance(part, ast.ClassDef) for part in path)
                if nested or name in self.attributes_set(module):
                    return None
                static = "staticmethod" in {unparsed(d) for d in found.decorator_list}
                qualified = ".".join(part.name for part in path if isinstance(part, ast.ClassDef))
                return self._plain(CallTarget(found, module, not static, qualified))
            base = cls.bases[0] if cls.bases else None
            above = self._class_named(base.id, CodePlace(module, ())) if isinstance(base, ast.Name) else None
            if above is None:
                return None
            cls, module = above
        return None

    @staticmethod
    def _plain(target: CallTarget) -> CallTarget | None:
        """The target, if calling it does what its text says, and changes only what it is given."""
        function, names = target.function, target.module.names
        summary = target.module.summaries.of[function]
        plain = all(_is_plain(d, names) for d in function.decorator_list)
        alone = summary.mutated_shared.keys() <= {NOT_ITS_OWN} and not summary.rebinds
        starred = function.args.vararg is not None or function.args.kwarg is not None
        return target if plain and alone and not starred and _is_simple(function) else None


def _is_self(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.arg) -> bool:
    decorators = set(map(unparsed, function.decorator_list))
    return parameters_of(function)[0] is node and not decorators & {"staticmethod", "classmethod"}


def _own_method(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method that a class defines under a name, the only one that is not the setter of a property."""
    methods = (s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == name)
    found = [m for m in methods if not any(isinstance(d, ast.Attribute) for d in m.decorator_list)]
    return found[0] if len(found) == 1 else None


def _is_plain(decorator: ast.expr, names: ModuleNames) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (names.imported_name(unparsed(node)) or unparsed(node)) in _PLAIN_DECORATORS


#: What makes a function more than its statements: other scopes, other names, another time.
_INTRICATE = (
    ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Match, *Functions.__args__,
)  # fmt: skip
_BY_TEXT = frozenset(
    {"super", "__class__", "locals", "globals", "vars", "exec", "eval", "getattr", "setattr"}
)


def _is_simple(function: ast.FunctionDef) -> bool:
    nodes = [n for s in function.body for n in every_node(s)]
    names = {n.id for n in nodes if isinstance(n, ast.Name)}
    private = any(isinstance(n, ast.Attribute) and _is_private(n.attr) for n in nodes)
    return not (private or names & _BY_TEXT or any(isinstance(n, _INTRICATE) for n in nodes))


def _is_private(name: str) -> bool:
    """Whether Python writes the name of the class before it."""
    return name.startswith("__") and not name.endswith("__")
