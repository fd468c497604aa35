"""Find annotated loops in texts that the program runs or hands on, and in files that it runs as text.

An annotation is a comment, and a string holds none. So a loop in a text that is given to `exec` runs
sequentially, whatever is written above it. Which text a name holds is read off the assignments in its scope;
docstrings, and texts that go nowhere, are examples and stay unmentioned.
"""

from __future__ import annotations

import ast
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator

from dlbrt.contract import MARK

from dlbc.analysis.names import Functions, imported_by
from dlbc.analysis.uses import bound_names, children_of, every_node, own_nodes, parameters_of, unparsed
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.loop import Module
from dlbc.source import Source, SourcePlace

#: An annotation above a loop, perhaps with comments between them, or at the end of the loop's first line.
_ANNOTATED = re.compile(
    rf"^[ \t]*{MARK}.*\n(?:[ \t]*#.*\n)*[ \t]*(?:async[ ]+)?for\b|^[ \t]*for\b.*{MARK}", re.MULTILINE
)
#: What a program that runs a file as text has in its own text.
_MAY_RUN_FILES = re.compile(r"\b(?:exec|compile|runpy|subprocess|system|popen)\b")

_RUNS_TEXT = frozenset((
    "builtins.exec", "builtins.eval", "builtins.compile", "timeit.timeit", "timeit.repeat", "timeit.Timer",
))  # fmt: skip
_STARTS = frozenset((
    "subprocess.run", "subprocess.Popen", "subprocess.call", "subprocess.check_call",
    "subprocess.check_output", "os.system", "os.popen", "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
))  # fmt: skip
_WRITES = frozenset(("write", "writelines", "write_text", "write_bytes"))
_RUNS_FILES = _STARTS | {"builtins.exec", "builtins.compile", "runpy.run_path"}

_Texts = ChainMap[str, list[ast.expr]]


def check_quoted_loops(module: Module, read: Callable[[str], str | None]) -> Iterator[Diagnostic]:
    """An error for each text with annotated loops that is run, a warning where it is handed on.

    ``read`` gives the text of a file that the program names, None where there is none.
    """
    text = module.source.text
    runs_files = ".py" in text and _MAY_RUN_FILES.search(text) is not None
    if not runs_files and not (MARK in text and any(map(_is_marked, every_node(module.tree)))):
        return
    imports = _imports(module.tree)
    for call, texts in _calls(module.tree.body, ChainMap()):
        name = _full_name(call.func, imports)
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if any(_ANNOTATED.search(_text_of(a, texts)) for a in arguments):
            yield from _handed_on(call, name, arguments, texts, module.source)
        elif runs_files and name in _RUNS_FILES:
            yield from _run_as_text(call, arguments, texts, module.source, read)


def _handed_on(
    call: ast.Call, name: str, arguments: list[ast.expr], texts: _Texts, source: Source
) -> Iterator[Diagnostic]:
    writes = isinstance(call.func, ast.Attribute) and call.func.attr in _WRITES
    to_stream = name.startswith(("sys.stdout.", "sys.stderr."))
    if name not in _RUNS_TEXT | _STARTS and not (writes and not to_stream):
        return
    annotation = next(_annotations(arguments, texts, source), source.place_of(call))
    note = RelatedPlace(annotation, "this annotation is part of a text")
    code = "DLB503" if name in _RUNS_TEXT else "DLB504"
    yield report(code, source.place_of(call), notes=(note,), function=unparsed(call.func))


def _run_as_text(
    call: ast.Call,
    arguments: list[ast.expr],
    texts: _Texts,
    source: Source,
    read: Callable[[str], str | None],
) -> Iterator[Diagnostic]:
    words = [word for argument in arguments for word in _text_of(argument, texts).split()]
    if "dlbc" in words:
        return
    for file in dict.fromkeys(word for word in words if word.endswith(".py")):
        if _ANNOTATED.search(read(file) or ""):
            yield report("DLB507", source.place_of(call), function=unparsed(call.func), file=file)


def _is_marked(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return MARK in text
        case ast.Constant(value=bytes(data)):
            return MARK.encode() in data
    return False


def _calls(body: Iterable[ast.stmt], outer: _Texts) -> Iterator[tuple[ast.Call, _Texts]]:
    """Every call of a scope and the scopes in it, with what the names there are assigned."""
    nodes = list(own_nodes(body))
    texts = outer.new_child({})
    for name, value in _assigned(nodes):
        texts.maps[0].setdefault(name, []).append(value)
    for node in nodes:
        if isinstance(node, ast.Call):
            yield node, texts
        elif isinstance(node, ast.ClassDef):
            yield from _calls(node.body, texts)
        elif isinstance(node, Functions):
            yield from _calls(node.body, texts.new_child({p.arg: [] for p in parameters_of(node)}))


def _assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                yield name, value
            case ast.withitem(optional_vars=ast.Name(id=name), context_expr=value):
                yield name, value


def _parts(node: ast.AST, texts: _Texts, seen: tuple[str, ...] = ()) -> Iterator[ast.Constant | str]:
    """The literals that an expression is made of, in order, and what joins them."""
    match node:
        case ast.Constant():
            yield node
        case ast.FormattedValue(value=value):
            yield from list(_parts(value, texts, seen)) or ["_"]
        case ast.Call(func=ast.Name(id="compile")):  # it has a finding of its own
            return
        case ast.Name(id=name) if name not in seen:
            for value in texts.get(name, ()):
                yield from _parts(value, texts, (*seen, name))
                yield "\n"
        case ast.JoinedStr() | ast.BinOp(op=ast.Add()):
            for child in children_of(node):
                yield from _parts(child, texts, seen)
        case _:
            for child in children_of(node):
                yield from _parts(child, texts, seen)
                yield "\n"


def _text_of(node: ast.AST, texts: _Texts) -> str:
    """The text that an expression gives, as far as literals show it."""
    parts = (part if isinstance(part, str) else part.value for part in _parts(node, texts))
    plain = (part.decode("latin-1") if isinstance(part, bytes) else part for part in parts)
    return "".join(part for part in plain if isinstance(part, str))


def _annotations(nodes: Iterable[ast.AST], texts: _Texts, source: Source) -> Iterator[SourcePlace]:
    """Where the annotations in texts stand: their lines, or the literal whose lines are written otherwise."""
    for part in (part for node in nodes for part in _parts(node, texts)):
        if isinstance(part, ast.Constant) and _is_marked(part):
            whole = source.place_of(part)
            for line in range(whole.line, whole.end_line + 1):
                at = source.line(line).find(MARK) + 1
                if at and whole.line != whole.end_line:
                    yield SourcePlace(line, at, line, len(source.line(line)) + 1)
            yield whole


def _imports(tree: ast.Module) -> dict[str, str]:
    """What the names of the file mean in full: imports, and builtins that it does not bind."""
    bound = bound_names(tree.body)
    names = {name: f"builtins.{name}" for name in ("exec", "eval", "compile") if name not in bound}
    for node in every_node(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= dict(imported_by(node))
    return names


def _full_name(func: ast.expr, names: dict[str, str]) -> str:
    root, _, rest = unparsed(func).partition(".") if isinstance(func, ast.Name | ast.Attribute) else ("",) * 3
    full = names.get(root, "")
    return f"{full}.{rest}" if full and rest else full
