"""What the names in a region of code mean; a region is a loop body, or a function that it may call."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from dlbrt.records import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class ImplicitCalls:
    """What may run, or be shared, without being named at that place.

    ``escaping``: functions that escape (into an argument, a container, a decorator), so that a call of a
    value may reach them; ``lambdas``: those without a name. ``escaping_methods``: methods of other objects
    that escape (``add = found.append``), with a place. ``rebindable``: names of functions that may hold
    something else. ``callable_attributes``: attributes that may hold a function. ``special_methods``: those
    that operators run. ``properties``: attributes that run a method. ``attribute_setters``: calls of
    `setattr`. ``cache_readers``: where the counts of a cache are read. ``mutable_class_attributes``: mutable
    attributes of classes, with the class.
    """

    escaping: frozenset[ast.AST] = frozenset()
    lambdas: tuple[ast.Lambda, ...] = ()
    escaping_methods: Mapping[str, ast.expr] = field(default_factory=dict)
    rebindable: frozenset[str] = frozenset()
    callable_attributes: frozenset[str] = frozenset()
    special_methods: frozenset[ast.AST] = frozenset()
    properties: frozenset[str] = frozenset()
    attribute_setters: tuple[ast.Call, ...] = ()
    cache_readers: tuple[ast.Attribute, ...] = ()
    mutable_class_attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexRange:
    """The values of the index variable: the arguments of its `range`; ``stop`` is None for `enumerate`.

    ``plain`` is false for `reversed`.
    """

    start: ast.expr | None
    stop: ast.expr | None
    step: ast.expr | None
    plain: bool = True


@dataclass(frozen=True)
class ModuleNames:
    """The module as a whole: what its names are bound to, and the functions that calls may reach.

    ``constant``: module-level names bound exactly once, by def, class or import. ``functions``: all functions
    outside classes by name, ``methods``: those of classes. ``aliases``: names assigned once, from another
    name or an attribute (``add = found.add``). ``iterators``: places where a name is bound to an iterator,
    and attributes that hold one; ``growing_dicts``: the same for dictionaries that grow where they are read.
    ``declared``: names that a function declares global or nonlocal, so that it may bind them at any time.
    ``object_containers``: names of containers whose items may be changed in place; ``scalar_containers``:
    names of containers of numbers and text alone. ``integers``: names that the file binds once, to an integer
    that it writes out, not below zero; ``numbers``: names that it binds to such and other numbers alone.
    """

    bound: Mapping[str, Sequence[ast.AST]]
    bound_anywhere: frozenset[str]
    constant: frozenset[str]
    imports: Mapping[str, str]
    functions: Mapping[str, tuple[FunctionNode, ...]]
    methods: Mapping[str, tuple[FunctionNode, ...]]
    aliases: Mapping[str, ast.expr]
    classes: Mapping[str, ast.ClassDef]
    implicit_calls: ImplicitCalls = ImplicitCalls()
    iterators: frozenset[ast.AST | str] = frozenset()
    growing_dicts: frozenset[ast.AST | str] = frozenset()
    declared: frozenset[str] = frozenset()
    object_containers: frozenset[str] = frozenset()
    scalar_containers: frozenset[str] = frozenset()
    integers: Mapping[str, int] = field(default_factory=dict)
    numbers: frozenset[str] = frozenset()

    def builtin(self, name: str) -> bool:
        """Whether ``name`` means Python's builtin wherever it stands in the module."""
        return name not in self.bound_anywhere

    def imported_name(self, dotted: str) -> str:
        """The full name of something imported (``numpy.add`` for ``np.add``); empty for anything else."""
        root, _, rest = dotted.partition(".")
        full = self.imports.get(root, "")
        return f"{full}.{rest}" if full and rest else full


@dataclass(frozen=True)
class Expansion:
    """A call as the statements that it runs, in terms of the names at the call: virtual inline expansion.

    ``value``: the expression that gives the result, where one does. ``own``: its locals; ``outer``: what it
    takes from its module under names that the caller does not have, with the full names of imports; ``kept``:
    under names that mean the same at the loop.
    ``fields``: attributes that its module sets. ``guard``: a condition under which the call reaches this
    function, empty where the text shows it; ``by_name``: it was found by the name of the method alone.
    ``of_file``: the function stands in the file itself.
    """

    function: FunctionNode
    body: tuple[ast.stmt, ...]
    value: ast.expr | None
    own: frozenset[str]
    outer: Mapping[str, str]
    kept: frozenset[str]
    fields: frozenset[str]
    guard: str = ""
    by_name: bool = False
    of_file: bool = True


@dataclass(frozen=True)
class CodeRegion:
    """A region of code: its statements, its own names, and the index variable if it has one.

    ``live_in``: own names that hold a value from outside at the start (loop targets, except the index).
    ``items``: those of them that the body does not rebind, where the items are no nested tuples.
    ``parameters``: own names that hold an argument. ``integers``: shared names that surely hold an integer.
    ``fresh``: functions whose result is new; ``returns_argument_parts``: functions that return at most parts
    of their arguments. ``range_arguments``: shared names in the arguments of a `range`; if they were no
    integers, there would be no iteration. ``paths``: chains that lead to an array of their own, the same in
    every iteration (``state['v']``). ``expansions``: calls, and attributes that run a property, whose code is
    walked in place of them; their locals are own names. ``outer``: names for data of modules there.
    ``receiver``: the name of the object of which `super()` without arguments is a view, the first parameter
    of the function around; empty where there is none. ``by_name``: objects are told apart by names alone, not
    by subscripts.
    """

    body: tuple[ast.stmt, ...]
    own: frozenset[str]
    module: ModuleNames
    index: str | None = None
    live_in: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    parameters: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    fresh: frozenset[str] = frozenset()
    returns_argument_parts: frozenset[str] = frozenset()
    range_arguments: frozenset[str] = frozenset()
    receiver: str = ""
    paths: frozenset[str] = frozenset()
    expansions: Mapping[ast.AST, Expansion] = field(default_factory=dict)
    outer: frozenset[str] = frozenset()
    by_name: bool = False

    def expanding(self, found: Mapping[ast.AST, Expansion]) -> CodeRegion:
        """The region with these calls expanded."""
        own = self.own.union(*(e.own for e in found.values()))
        outer = {name: full for e in found.values() for name, full in e.outer.items()}
        implicit = self.module.implicit_calls
        fields = implicit.callable_attributes.union(*(e.fields for e in found.values()))
        module = replace(
            self.module,
            imports={**self.module.imports, **{name: full for name, full in outer.items() if full}},
            implicit_calls=replace(implicit, callable_attributes=fields),
        )
        return replace(self, own=own, module=module, outer=frozenset(outer), expansions=found)

    @property
    def code(self) -> tuple[ast.stmt, ...]:
        """The statements, and those of expanded calls."""
        return (*self.body, *(s for e in self.expansions.values() for s in e.body))


@dataclass(frozen=True)
class LoopNames:
    """Names of one loop: temporaries (loop targets included), targets, and the meaning of all others.

    ``items``: the targets in order, where items are single values or tuples of such, else empty.
    ``counter`` is the target that counts; ``index`` is the same, but None if the body rebinds it.
    ``counter_in_range``: it takes the values of a `range`. ``numbers``: names from outside that are bound
    once, to a number; ``numbers_of_module`` are those of them that code elsewhere could rebind.
    """

    temporaries: frozenset[str]
    targets: tuple[str, ...]
    items: tuple[str, ...]
    rebound: frozenset[str]
    index: str | None
    space: IndexRange | None
    parameters: tuple[str, ...]
    integers: frozenset[str]
    shared: Mapping[str, ast.AST] = field(default_factory=dict)
    bindings: Mapping[str, Sequence[ast.AST]] = field(default_factory=dict)
    counter: str | None = None
    counter_in_range: bool = False
    numbers: Mapping[str, int] = field(default_factory=dict)
    numbers_of_module: frozenset[str] = frozenset()
