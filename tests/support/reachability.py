"""Which entry point reaches a function: found in the text, without running anything.

    python -m tests.support.reachability        the public functions of `ROOMS`, and what reaches them

Entry points are the commands of `dlbc`, and a run on ranks: what a generated program calls and what
`dlbc run` starts. A definition reaches what its text names: functions, classes and constants, through all
imports, lazy ones too. Of an object only the name of its attribute is seen. So a method of `ROOMS` is reached
where its class is, and an attribute of its name; of other classes all methods are, since drivers call some by
computed names. Annotations do not count, nor does what is imported for type checkers alone; so the methods
of protocols, which only annotations name, are left out.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"dlbc": ROOT / "dlbc", "dlbrt": ROOT / "runtime" / "dlbrt"}

#: The rooms whose public functions have to be reached.
ROOMS = tuple(f"dlbrt.{room}" for room in ("partition", "speed", "diffusion", "predict"))

#: What is called by its name in a computed string.
_IMPORTERS = {"import_apart", "import_module"}

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

#: A definition: its module and its name there, `Class.method` for a method; "" is the module's own code.
Name = tuple[str, str]


@dataclass
class _Uses:
    """What a definition's text names: other definitions, attributes of objects, and whole modules."""

    names: set[Name] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


@dataclass
class _Module:
    """The definitions of a module, and what the names that it imports lead to."""

    name: str
    definitions: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    imported: dict[str, Name] = field(default_factory=dict)
    methods: dict[str, dict[str, ast.AST]] = field(default_factory=dict)
    strings: set[str] = field(default_factory=set)


def in_rooms(module: str) -> bool:
    return module.startswith(ROOMS)


@cache
def modules() -> dict[str, _Module]:
    """All modules of both packages, read."""
    paths = {}
    for package, directory in PACKAGES.items():
        for path in sorted(directory.rglob("*.py")):
            parts = (package, *path.relative_to(directory).with_suffix("").parts)
            paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: _read(name, ast.parse(path.read_text(encoding="utf-8"))) for name, path in paths.items()}


def _read(name: str, tree: ast.Module) -> _Module:
    found = _Module(name)
    for statement in _run_statements(tree.body):
        for own in _own_names(statement) or [""]:
            found.definitions[own].append(statement)
        if isinstance(statement, ast.ClassDef):
            found.methods[statement.name] = {s.name: s for s in statement.body if isinstance(s, _FUNCTIONS)}
    for node in _parts(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.strings.add(node.value)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found.imported[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found.imported[alias.asname or alias.name.partition(".")[0]] = (alias.name, "")
    return found


def _run_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if` and `try` too, but for type checkers."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from _run_statements(statement.orelse)
            case ast.If() | ast.Try():
                yield from _run_statements(
                    [s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt)]
                )
            case _:
                yield statement


def _own_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it, without annotations and what is for type checkers."""
    yield node
    skipped: tuple[object, ...] = ()
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            skipped = tuple(node.body)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            skipped = (node.returns,)
        case ast.arg() | ast.AnnAssign():
            skipped = (node.annotation,)
    for child in ast.iter_child_nodes(node):
        if not any(child is each for each in skipped):
            yield from _parts(child)


@cache
def _uses(name: Name) -> _Uses:
    """What a definition names; of a class in `ROOMS` without its methods."""
    module, own = modules()[name[0]], name[1]
    holder, _, method = own.partition(".")
    nodes = [module.methods[holder][method]] if method else module.definitions.get(own, [])
    found = _Uses(names={(name[0], "")} if own else set())
    for node in nodes:
        left_out = tuple(module.methods.get(own, {}).values()) if in_rooms(name[0]) else ()
        for part in _without(node, left_out):
            _collect(module, part, found)
    return found


def _without(node: ast.AST, left_out: tuple[ast.AST, ...]) -> Iterator[ast.AST]:
    if not left_out:
        yield from _parts(node)
        return
    for child in ast.iter_child_nodes(node):
        if not any(child is each for each in left_out):
            yield from _parts(child)


def _collect(module: _Module, node: ast.AST, found: _Uses) -> None:
    match node:
        case ast.Name(id=name):
            found.names |= set(_resolved((module.name, name)))
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            found.attributes.add(attribute)
            target = module.imported.get(name)
            holder = None if target is None else ".".join(filter(None, target))
            if holder in modules():
                found.names |= set(_resolved((holder, attribute)))
        case ast.Attribute(attr=attribute):
            found.attributes.add(attribute)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[word, *_]) if (
            name in _IMPORTERS
        ):
            found.modules |= set(_named_modules(module, word))


def _resolved(name: Name) -> Iterator[Name]:
    """The definition that a name of a module leads to, through imports; none for what is not ours."""
    seen = set()
    while name not in seen:
        seen.add(name)
        module = modules().get(name[0])
        if module is None:
            return
        if name[1] in module.definitions:
            yield name
            return
        if name[1] not in module.imported:
            return
        name = module.imported[name[1]]


def _named_modules(module: _Module, word: ast.expr) -> Iterator[str]:
    """The modules that a string names, a part to be filled in being any string of the module."""
    match word:
        case ast.Constant(value=str(name)) if name in modules():
            yield name
        case ast.JoinedStr(values=[ast.Constant(value=str(prefix)), *_]):
            yield from (prefix + each for each in sorted(module.strings) if prefix + each in modules())


def reached_from(roots: Iterable[Name], attributes: Iterable[str] = ()) -> set[Name]:
    """All definitions that the roots reach, methods among them."""
    found: set[Name] = set()
    named = set(attributes)
    waiting = list(roots)
    classes: set[Name] = set()
    while waiting:
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            uses = _uses(name)
            named |= uses.attributes
            waiting += uses.names
            waiting += [(module, own) for module in uses.modules for own in modules()[module].definitions]
            if name[1] in modules()[name[0]].methods:
                classes.add(name)
        for module, own in classes:
            for method in modules()[module].methods[own]:
                if (method in named or method.startswith("__")) and (module, f"{own}.{method}") not in found:
                    waiting.append((module, f"{own}.{method}"))
    return found


@cache
def entry_points() -> dict[str, set[Name]]:
    """What each command reaches, and a run on ranks."""
    names = [name.rpartition(".")[2] for name in modules() if re.fullmatch(r"dlbc\.commands\.\w+", name)]
    commands = [name for name in names if {"run", "add_arguments"} <= set(_definitions(name))]
    found = {name: reached_from([(f"dlbc.commands.{name}", "run")]) for name in sorted(commands)}
    templates = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "dlbc/templates").rglob("*.j2"))
    started = [("dlbrt", "start"), *((m, own) for m in ("dlbrt.script",) for own in modules()[m].definitions)]
    found["run"] = found["run"] | reached_from(started, re.findall(r"\.(\w+)\(", templates))
    return found


def _definitions(command: str) -> Iterable[str]:
    return modules()[f"dlbc.commands.{command}"].definitions


def public_functions() -> list[Name]:
    """The public functions of `ROOMS`, and the public methods of their public classes, in order."""
    found = []
    for name, module in modules().items():
        if in_rooms(name):
            for own, nodes in module.definitions.items():
                if isinstance(nodes[0], _FUNCTIONS):
                    found.append((name, own))
                methods = () if _is_protocol(nodes[0]) else module.methods.get(own, ())
                found += [(name, f"{own}.{method}") for method in methods]
    return [name for name in found if not any(part.startswith("_") for part in name[1].split("."))]


def _is_protocol(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "Protocol" for base in node.bases)


def unreached() -> list[str]:
    """The public functions that no entry point reaches."""
    reached = set().union(*entry_points().values())
    return [".".join(name) for name in public_functions() if name not in reached]


def main() -> None:
    """Print a line for each public function: its name, and the entry points that reach it."""
    points = entry_points()
    for module, own in public_functions():
        by = [point for point, reached in points.items() if (module, own) in reached]
        print(f"{module}.{own}: {', '.join(by) or 'NOTHING'}")


if __name__ == "__main__":
    main()
