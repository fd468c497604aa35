"""The parts of the documentation that are generated: clauses, commands, options, and the runtime's interface.

``python -m tests.support.document`` writes them, with the page of diagnostics. Each function takes the text
of a page and returns it as it should be. What the program does not tell itself stands in ``documents.toml``.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import dlbrt
from dlbrt.contract import AVAILABLE, ENVIRONMENT
from dlbrt.data.array_table import DistributionSpec
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.routines.routine import IterativeRoutine
from dlbrt.mpi.session import Session

from dlbc.cli import _COMMANDS as COMMANDS
from dlbc.commands.defaults import KEYS
from dlbc.commands.examples import EXAMPLES
from dlbc.commands.explain.describe import SUMMARIES
from dlbc.parse.read_clauses import CLAUSES, ITERATE_KEYS
from tests.bench.speedup import RECORD, caption, picture

__all__ = ["GENERATED", "TEXTS"]

#: The words that the program itself does not have, by table and name.
TEXTS: Mapping[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def commands(_: str) -> str:
    """The page of all commands, their options and variables."""
    rows = [f"| [`{name}`](#dlbc-{name}) | {text} |" for name, text in COMMANDS.items()]
    table = "\n".join(["| command | what it does |", "| --- | --- |", *rows])
    return "\n".join([_head("commands"), table, *map(_command, COMMANDS), ""])


def _head(page: str) -> str:
    return str(TEXTS["heads"][page]).lstrip()


def _command(name: str) -> str:
    parser = argparse.ArgumentParser(prog=f"dlbc {name}", add_help=False)
    import_module(f"dlbc.commands.{name}").add_arguments(parser)
    text = COMMANDS[name]
    lines = ["", f"## dlbc {name}", "", f"{text[0].upper()}{text[1:]}." + _more(name), ""]
    lines += _options(name, parser)
    lines += ["", "Examples:", "", *(f"* `{words}`: {what}" for words, what in EXAMPLES[name])]
    return "\n".join(lines)


def _more(name: str) -> str:
    return f" [More]({TEXTS['pages'][name]})." if name in TEXTS["pages"] else ""


def _options(name: str, parser: argparse.ArgumentParser) -> Iterable[str]:
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    runs = name == "run"
    yield "| argument | variable | meaning |" if runs else "| argument | meaning |"
    yield "| --- | --- | --- |" if runs else "| --- | --- |"
    for action in shown:
        variable = ENVIRONMENT.get(action.dest, "") if runs else ""
        cells = [
            _written(action),
            *([f"`{variable}`" if variable else ""] if runs else []),
            _meaning(action, name),
        ]
        yield f"| {' | '.join(cells)} |"


def _written(action: argparse.Action) -> str:
    """How an argument is written, as code."""
    if action.choices is not None:
        value = "\\|".join(map(str, action.choices))
    else:
        value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        value = value.replace("|", "\\|")
    if not action.option_strings:
        return f"`{value}`"
    takes = action.nargs != 0
    return ", ".join(f"`{option} {value}`" if takes else f"`{option}`" for option in action.option_strings)


def _meaning(action: argparse.Action, name: str) -> str:
    text = TEXTS["options"].get(action.dest) if name == "run" else None
    if text is None:
        text = (action.help or "") % {**vars(action), "prog": "dlbc"}
    text = re.sub(r"(?<!\\)\|", r"\\|", text).replace("<", "&lt;")
    keys = [key for key, users in KEYS.items() if key == action.dest and name in users]
    return text + (f" (`[tool.dlbc]`: `{keys[0]}`)" if keys else "")


def language(text: str) -> str:
    """The page of the language, with its tables."""
    text = _between(text, "clauses", _table("clause", _clauses("clauses", CLAUSES)))
    text = _between(text, "clauses of iterate", _table("clause", _clauses("iterate", ITERATE_KEYS)))
    return _between(text, "strategies", _table("strategy", ((name, SUMMARIES[name]) for name in AVAILABLE)))


def _clauses(table: str, names: Iterable[str]) -> Iterable[tuple[str, str]]:
    for name in names:
        written, meaning = TEXTS[table][name]
        yield written, meaning.replace("|", "\\|")


def _table(what: str, rows: Iterable[tuple[str, str]]) -> list[str]:
    shown = (f"| `{written}` | {meaning} |" for written, meaning in rows)
    return [f"| {what} | meaning |", "| --- | --- |", *shown]


def readme(text: str) -> str:
    """README, with what the measurements say."""
    return _between(text, "speed-up", [caption(_record())])


def chart(_: str) -> str:
    """The picture in README."""
    return picture(_record())


def _record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def _between(text: str, name: str, lines: Iterable[str]) -> str:
    """The text with these lines between the marks of this name; ValueError where there are none."""
    pattern = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"expected one place <!-- {name} --> .. <!-- end of {name} -->")
    inserted = "\n" + "\n".join(lines) + "\n\n"
    return pattern.sub(lambda _: inserted, text)


#: What a kernel calls, in the order in which it calls it.
_KERNEL = ("schedule", "cost", "profile", "folded", "arrays", "reductions", "ordered", "scatter", "more_work",
           "iterations", "pairs", "accumulators", "reduce", "keep", "synchronize", "gather")  # fmt: skip
_SECTIONS: tuple[tuple[str, str, tuple[tuple[str, Any], ...]], ...] = (
    ("Balanced loops", "dlbrt.", tuple((n, getattr(dlbrt, n)) for n in ("balanced", "LeftEarlyError"))),
    (
        "The program",
        "",
        (
            ("dlbrt.start", dlbrt.start),
            ("dlb.run", Session.run),
            ("dlb.result_of", Session.result_of),
            ("dlb.iterate", Session.iterate),
        ),
    ),
    (
        "Distributions and contributions",
        "dlbrt.",
        (
            ("BLOCK", DistributionSpec.__call__),
            *((n, getattr(dlbrt, n)) for n in ("REDUCE", "ELEMENTS", "SELECT", "LAST")),
        ),
    ),
    ("Iterables", "dlbrt.", tuple((n, getattr(dlbrt, n)) for n in ("enumerate", "reversed", "zip"))),
    ("Within a kernel", "dlb.", tuple((n, inspect.getattr_static(LoopContext, n)) for n in _KERNEL)),
    (
        "Within a routine",
        "routine.",
        tuple((n, getattr(IterativeRoutine, n)) for n in ("run", "read", "write", "rows", "items")),
    ),
)


def api(_: str) -> str:
    """The page of the runtime's public names."""
    parts = [_head("api")]
    for title, prefix, members in _SECTIONS:
        parts.append(f"\n## {title}\n")
        parts += (_member(prefix, name, member) for name, member in members)
    return "".join(parts)


def _member(prefix: str, name: str, member: Any) -> str:
    function = member.fget if isinstance(member, property) else member
    signature = "" if isinstance(member, property | type) else _signature(function)
    text = (inspect.getdoc(function) or "").replace("``", "`")
    return f"\n### {name}\n\n`{prefix}{name}{signature}`\n\n{text}\n"


def _signature(function: Any) -> str:
    """The parameters without types, which the docstring describes."""
    signature = inspect.signature(function)
    kept = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in signature.parameters.values()
        if p.name != "self"
    ]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


#: Each page that is generated, wholly or in part, and by what.
GENERATED: Mapping[str, Callable[[str], str]] = {
    "README.md": readme,
    "docs/speedup.svg": chart,
    "docs/api.md": api,
    "docs/commands.md": commands,
    "docs/language.md": language,
}
