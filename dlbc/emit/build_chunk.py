"""What `jit` adds to a generated program: the functions that are compiled, and the kernel's calls of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from textwrap import indent

from dlbc.emit.choose_names import GeneratedNames
from dlbc.emit.render import INDENT, WIDTH, called, deeper, quoted
from dlbc.ir.chunk import CHUNK, FITS, RUNTIME, ChunkForm, ChunkPlan, Column
from dlbc.ir.plan import LoopPlan

_PLACEHOLDERS = re.compile(rf"\b({CHUNK}|{FITS}|{RUNTIME})\b")


def chunk_texts(plan: LoopPlan, names: GeneratedNames) -> Iterator[str]:
    """The texts of the condition and of the chunk functions, the best one first."""
    chunk = plan.chunk
    if chunk is None:
        return
    number = plan.loop.number - 1
    if chunk.fits:
        yield _named(_condition(chunk), names, number, "")
    for order, form in enumerate(chunk.forms):
        yield _named(chunk_text(form), names, number, _suffix(order, len(chunk.forms)))


def _suffix(order: int, forms: int) -> str:
    """The last one, which is as written, has the plain name."""
    return "" if order == forms - 1 else f"_restructured{order + 1 if order else ''}"


def _named(text: str, names: GeneratedNames, number: int, suffix: str) -> str:
    chosen = {
        CHUNK: names.chunks[number] + suffix,
        FITS: names.conditions[number],
        RUNTIME: names.runtime,
    }
    return _PLACEHOLDERS.sub(lambda found: chosen[found[0]], text)


def chunk_text(form: ChunkForm) -> str:
    """The text of a chunk function: what was restructured in comments, long lines broken."""
    head, _, body = form.text.partition("\n")
    body = "\n".join(map(_broken, body.split("\n")))
    lines = "".join(f"{INDENT}# restructured: {line}\n" for line in form.what)
    return f"# compiled; returns the first index that is left to Python\n{_signature(head)}\n{lines}{body}\n"


def _broken(line: str) -> str:
    """A line of the function; a long sum on the right of an assignment has a line for each of its terms."""
    target, equals, value = line.partition(" = ")
    depth = len(line) - len(line.lstrip())
    if len(line) <= WIDTH or not equals:
        return line
    first, *others = _terms(ast.parse(value, mode="eval").body)
    other = ast.Name("x")
    terms = [ast.unparse(ast.BinOp(first, ast.Add(), other)).removesuffix(" + x") if others else value]
    terms += [ast.unparse(ast.BinOp(other, ast.Add(), each)).removeprefix("x + ") for each in others]
    inner = " " * (depth + len(INDENT))
    return "\n".join(
        [f"{target} = (", *(f"{inner}{'+ ' if k else ''}{t}" for k, t in enumerate(terms)), " " * depth + ")"]
    )


def _terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum, from the left."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_terms(node.left), node.right]
    return [node]


def _signature(head: str) -> str:
    name, _, parameters = head.partition("(")
    return called(f"{name}(", parameters.removesuffix("):").split(", "), "):", WIDTH)


def _condition(chunk: ChunkPlan) -> str:
    """The function that tells whether all subscripts of a chunk are in range."""
    head = called(f"def {FITS}(", [*chunk.bounds, *(name for name, _ in chunk.parameters)], "):", WIDTH)
    tests = f"\n{2 * INDENT}and ".join(chunk.fits)
    body = f"{INDENT}return (\n{2 * INDENT}{tests}\n{INDENT})"
    return f"# whether all subscripts of a chunk are in range\n{head}\n{body}\n"


def compiled(plan: LoopPlan, names: GeneratedNames) -> tuple[str, ...]:
    """The kernel's call that has the functions compiled."""
    chunk = plan.chunk
    if chunk is None:
        return ()
    number = plan.loop.number - 1
    count = len(chunk.forms)
    functions = ", ".join(names.chunks[number] + _suffix(order, count) for order in range(count))
    held = {
        name: f"{names.dlb}.sequence({'' if place is None else place})" for name, place in chunk.sequences
    }
    given = [f"[{functions}]", f"[{', '.join(held.get(name, text) for name, text in chunk.parameters)}]"]
    if chunk.fits:
        given.append(f"fits={names.conditions[number]}")
    if chunk.axes:
        given.append(f"axes={quoted(' '.join(f'{name}:{count}' for name, count in chunk.axes))}")
    listed = {
        "stored": chunk.stored,
        "index_only": chunk.index_only,
        "arrays": chunk.arrays,
        "integers": chunk.integers,
        "floats": chunk.floats,
        "python": chunk.python,
        "real": chunk.real,
    }
    given += [f"{key}={quoted(' '.join(found))}" for key, found in listed.items() if found]
    if chunk.columns:
        if chunk.origins:
            given.append(f"origins={quoted(' '.join(chunk.origins))}")
        if places := _origins(chunk.columns):
            given.append(f"origin_columns={places}")
        given.append(f"columns={_sources(chunk.columns)}")
    if chunk.noted:
        if places := _origins(chunk.note_rows):
            given.append(f"note_origins={places}")
        given.append(f"notes={_sources(chunk.note_rows)}")
        given.append(f"noted={{{', '.join(f'{k}: {list(rows)}' for k, rows in chunk.noted)}}}")
    forms = chunk.forms[:-1]
    if (strip := max((form.strip for form in forms), default=1)) > 1:
        given.append(f"strip={strip}")
    if required := sorted({name for form in forms for name in form.floats}):
        given.append(f"restructured_floats={quoted(' '.join(required))}")
    if chunk.in_place:
        given.append("in_place=True")
    if chunk.bits < 62:
        given.append(f"bits={chunk.bits}")
    if chunk.rows:
        given.append(f"rows={{{', '.join(f'{quoted(name)}: {axis}' for name, axis in chunk.rows)}}}")
    return (deeper(called(f"{names.dlb}.compile(", given, ")", WIDTH - len(INDENT)), 1),)


def _sources(columns: Sequence[Column]) -> str:
    """The sources of columns as the kernel gives them."""
    return f"[{', '.join(quoted(' '.join(each.sources)) for each in columns)}]"


def _origins(columns: Sequence[Column]) -> str:
    """The columns that have others for their origins, with these; empty if there are none."""
    places = [f"{k}: {each.origin}" for k, each in enumerate(columns) if each.origin is not None]
    return f"{{{', '.join(places)}}}" if places else ""


def computed(plan: LoopPlan, names: GeneratedNames, turns: str, accumulate: Sequence[str]) -> tuple[str, ...]:
    """The kernel's statement that runs compiled chunks, with what Python does for each iteration."""
    chunk = plan.chunk
    assert chunk is not None
    paired, _, arguments = turns.partition("(")
    given = [argument for argument in (arguments.rstrip(")"),) if argument]
    if paired == "pairs":
        given.append("pairs=True")
    call = f"({', '.join(given)})"
    if not chunk.columns and not chunk.effects:
        return (f"{names.dlb}.compute{call}  # compiled chunks, with a poll after each",)
    if not accumulate and (contributed := _operands(plan, chunk)) and given in ([], ["pairs=True"]):
        call = ", ".join([*map(quoted, contributed), *given])
        targets = ", ".join(column.name for column in chunk.columns)
        body = "\n".join(indent(text, 3 * INDENT) for text in chunk.effects)
        comment = "# what compiled chunks contribute, in iteration order"
        return (f"{comment}\n{2 * INDENT}for {targets} in {names.dlb}.operands({call}):\n{body}",)
    first = ast.unparse(plan.loop.node.target) if chunk.takes_items else plan.space.index or "_"
    if chunk.takes_items:
        call = f"({', '.join([*given, 'items=True'])})"
    targets = ", ".join([first, *(column.name for column in chunk.columns if not column.hidden)])
    targets += "" if chunk.columns else ","
    inner = [
        *(3 * INDENT + text for text in accumulate),
        *(indent(text, 3 * INDENT) for text in chunk.effects),
    ]
    body = "\n".join(inner or [f"{3 * INDENT}pass"])
    comment = "# of each iteration in compiled chunks, what is left to Python"
    return (f"{comment}\n{2 * INDENT}for {targets} in {names.dlb}.computed{call}:\n{body}",)


def _operands(plan: LoopPlan, chunk: ChunkPlan) -> list[str]:
    """The names to which each iteration adds one result, if Python has nothing else to do; else none."""
    sums = {
        each.name
        for each in plan.reductions
        if each.operator in _SUMS and not (each.element or each.multiple_updates or each.any_order)
    }
    found = [_operand(ast.parse(text).body) for text in chunk.effects]
    pairs = [each for each in found if each is not None]
    added, columns = [name for name, _ in pairs], [column.name for column in chunk.columns]
    once = len(set(added)) == len(found) and [column for _, column in pairs] == columns
    kept = plan.definite or plan.conditional
    return added if once and not kept and not chunk.origins and sums.issuperset(added) else []


#: Operators that combine numbers without looking at them.
_SUMS = ("+", "-", "*")


def _operand(statements: Sequence[ast.stmt]) -> tuple[str, str] | None:
    """The name, and the result that a statement adds to it: ``total += operand``."""
    match statements:
        case [
            ast.AugAssign(
                target=ast.Name(id=name), op=ast.Add() | ast.Sub() | ast.Mult(), value=ast.Name(id=c)
            )
        ]:
            return name, c
        case [
            ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.BinOp(ast.Name(id=same), ast.Add() | ast.Sub() | ast.Mult(), ast.Name(id=c)),
            )
        ] if name == same != c:
            return name, c
    return None
