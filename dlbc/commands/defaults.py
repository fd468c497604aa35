"""Defaults of options from the table `[tool.dlbc]` of the user's project.

The table is that of the nearest `pyproject.toml` at or above the programs that a command names; a program
that is a link means the file that it leads to. The command line takes precedence over it, and so do the
environment variables that set the same option of a run.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from dlbrt.contract import ENVIRONMENT, nearest

FILE = "pyproject.toml"
_TABLE = "[tool.dlbc]"
_PROVING = frozenset({"check", "explain", "transform", "run", "calibrate", "verify"})
_RUN = frozenset({"run"})
#: The keys, each an option's `dest`, and the commands that they are for.
KEYS: Mapping[str, frozenset[str]] = {
    "strict": _PROVING,
    "follow": _PROVING | {"annotate"},
    "package": frozenset({"run", "calibrate", "verify"}),
    "format": frozenset({"check"}),
    "ranks": _RUN,
    "strategy": _RUN,
    "group": _RUN,
    "history": _RUN,
    "threads": _RUN,
    "timeout": _RUN,
    "weights": _RUN,
    "summary": _RUN,
}


class DefaultsError(Exception):
    """The table cannot be used; the message says which file and why."""


def parse(
    parser: argparse.ArgumentParser, of_command: argparse.ArgumentParser, name: str, words: Sequence[str]
) -> argparse.Namespace:
    """The options of the command ``name``, those that the words do not give from the table.

    ``of_command`` is the part of ``parser`` for the command. Raises DefaultsError.
    """
    if all(name not in commands for commands in KEYS.values()):
        return parser.parse_args(words)
    # Which programs are meant shows only in the parsed words; an option missing there may be in the table.
    required = [action for action in of_command._actions if action.required and action.option_strings]
    for action in required:
        action.required = False
    options = parser.parse_args(words)
    defaults = _defaults(of_command, name, options)
    of_command.set_defaults(**defaults)
    for action in required:
        action.required = action.dest not in defaults
    return parser.parse_args(words) if defaults or required else options


def _defaults(
    of_command: argparse.ArgumentParser, name: str, options: argparse.Namespace
) -> dict[str, object]:
    """The defaults that the table has for the command, by `dest`."""
    if getattr(options, "imported", False):  # a module of a running program, whose options are given in full
        return {}
    file, table = _table(_places(options))
    for key in table:
        if key not in KEYS:
            raise DefaultsError(f"{file}: {_TABLE} has no key `{key}`{nearest(key, KEYS)}; {_known()}")
    actions = {action.dest: action for action in of_command._actions}
    found = {}
    for key, value in table.items():
        if name in KEYS[key] and not (name in _RUN and os.environ.get(ENVIRONMENT.get(key, ""))):
            try:
                found[key] = _value(actions[key], value)
            except (argparse.ArgumentTypeError, ValueError) as error:
                raise DefaultsError(f"{file}: {_TABLE}, `{key}`: {error}") from None
    return found


def _known() -> str:
    return f"the keys are {', '.join(KEYS)}"


def _places(options: argparse.Namespace) -> list[str]:
    """The files and directories that the command is about; the current directory for none and for `-`."""
    words = getattr(options, "files", None) or [getattr(options, "file", "")]
    return [os.path.realpath(word if word not in ("", "-") else ".") for word in words]


def _table(places: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The table for all these places, and its file; empty where there is none."""
    tables = {file: _read(file) if file else {} for file in map(_nearest_file, places)}
    first = next(iter(tables))
    other = next((file for file, table in tables.items() if table != tables[first]), None)
    if other is not None:
        named = " and ".join(file or "programs in no project" for file in (first, other))
        raise DefaultsError(f"{named} differ in {_TABLE}: name the programs in commands of their own")
    return first, tables[first]


def _nearest_file(place: str) -> str:
    folder = place if os.path.isdir(place) else os.path.dirname(place)
    while not os.path.isfile(os.path.join(folder, FILE)):
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return os.path.join(folder, FILE)


def _read(file: str) -> dict[str, Any]:
    """The table of a file; one that does not name dlbc is not parsed, and may be broken."""
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise DefaultsError(f"{file}: {error.strerror}") from None
    if b"dlbc" not in data:
        return {}
    import tomllib  # only for those who may have the table

    try:
        tool = tomllib.loads(data.decode("utf-8")).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DefaultsError(f"{file}: expected TOML, but: {error}") from None
    table = tool.get("dlbc", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise DefaultsError(f"{file}: expected the table {_TABLE}, found {table!r}")
    return table


def _value(action: argparse.Action, value: object) -> object:
    """The value that the command line would give. ArgumentTypeError, ValueError if malformed."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, found {value!r}")
        return value
    if isinstance(action.default, list):
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise ValueError(f"expected a list of strings, found {value!r}")
        return [_converted(action, part) for part in value]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected a string or a number, found {value!r}")
    return _converted(action, str(value))


def _converted(action: argparse.Action, text: str) -> object:
    if action.choices is not None and text not in action.choices:
        raise ValueError(f"expected one of {', '.join(action.choices)}; found {text!r}")
    return action.type(text) if callable(action.type) else text
