"""`dlbc completion`: a script that completes command lines of dlbc in a shell.

The script is made from the tables that parse the command line, and starts nothing when it completes. A word
that is neither a command nor an option nor one of an option's choices is completed as a file name.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from dlbrt.records import dataclass

from dlbc.commands.common import show_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell")


def run(options: argparse.Namespace) -> int:
    """The exit status. ``options.commands``: every command, with what it does."""
    show_text(SHELLS[options.shell](tuple(tables(options.commands))))
    return 0


@dataclass(frozen=True, slots=True)
class ShellOption:
    """An option in all its spellings, or an argument without any; ``choices``: its values, if known."""

    words: tuple[str, ...]
    text: str
    choices: tuple[str, ...]
    has_value: bool


@dataclass(frozen=True, slots=True)
class CommandTable:
    """A command, what it does, and its options."""

    name: str
    text: str
    options: tuple[ShellOption, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """What may stand after the command, besides names of files and of modules."""
        options = (word for option in self.options for word in option.words)
        return (*options, *(choice for o in self.options if not o.words for choice in o.choices))

    @property
    def chosen(self) -> Iterator[ShellOption]:
        """The options whose values are known."""
        return (option for option in self.options if option.words and option.choices)


def tables(commands: Mapping[str, str]) -> Iterator[CommandTable]:
    """The tables of the commands."""
    for name, text in commands.items():
        parser = argparse.ArgumentParser()
        import_module(f"dlbc.commands.{name}").add_arguments(parser)
        shown = (action for action in parser._actions if action.help != argparse.SUPPRESS)
        yield CommandTable(name, text, tuple(map(_option, shown)))


def _option(action: argparse.Action) -> ShellOption:
    text = (action.help or "") % {"default": action.default, "prog": "dlbc"}
    choices = tuple(map(str, action.choices or ()))
    return ShellOption(
        tuple(action.option_strings), re.split(r"[:;(]", text)[0].strip(), choices, action.nargs != 0
    )


_GENERAL = ("-h", "--help", "-V", "--version")


def bash(commands: tuple[CommandTable, ...]) -> str:
    """The script for bash."""
    cases = []
    for table in commands:
        values = "".join(
            f"\n                {'|'.join(o.words)}) words='{' '.join(o.choices)}' ;;" for o in table.chosen
        )
        cases.append(
            f"        {table.name})\n            words='{' '.join(table.words)}'\n"
            f'            case "$before" in{values}\n            esac ;;'
        )
    return _BASH.format(
        commands=" ".join(t.name for t in commands), general=" ".join(_GENERAL), cases="\n".join(cases)
    )


_BASH = """\
# Completion of dlbc for bash, written by `dlbc completion bash`.
_dlbc() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        words='{commands} {general}'
    else
        case "${{COMP_WORDS[1]}}" in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _dlbc dlbc"""


def zsh(commands: tuple[CommandTable, ...]) -> str:
    """The script for zsh."""
    cases = []
    for table in commands:
        specs = [_zsh_spec(option) for option in table.options]
        cases.append(
            f"        {table.name})\n            _arguments {' '.join([*specs, _quoted('*:file:_files')])} ;;"
        )
    named = "\n".join(f"        {_quoted(f'{t.name}:{_plain(t.text)}')}" for t in commands)
    return _ZSH.format(commands=named, general=" ".join(_GENERAL), cases="\n".join(cases))


def _zsh_spec(option: ShellOption) -> str:
    values = f"({' '.join(option.choices)})" if option.choices else "_files"
    if not option.words:
        return _quoted(f"1:{_plain(option.text)}:{values}") if option.choices else ""
    value = f":value:{values}" if option.has_value else ""
    return " ".join(_quoted(f"{word}[{_plain(option.text)}]{value}") for word in option.words)


def _plain(text: str) -> str:
    """A text without what has a meaning in a specification of zsh."""
    return re.sub(r"[\[\]:\\]", " ", text)


_ZSH = """\
#compdef dlbc
# Completion of dlbc for zsh, written by `dlbc completion zsh`.
_dlbc() {{
    local -a commands=(
{commands}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        compadd -- {general}
        return
    fi
    local chosen=$words[2]
    shift words
    (( CURRENT-- ))
    case $chosen in
{cases}
    esac
}}
if [ "$funcstack[1]" = _dlbc ]; then
    _dlbc "$@"
else
    compdef _dlbc dlbc
fi"""


def fish(commands: tuple[CommandTable, ...]) -> str:
    """The script for fish."""
    lines = [
        "# Completion of dlbc for fish, written by `dlbc completion fish`.",
        "complete -c dlbc -n __fish_use_subcommand -s h -l help -d 'show help'",
        "complete -c dlbc -n __fish_use_subcommand -s V -l version -d 'show the version'",
    ]
    for table in commands:
        lines.append(f"complete -c dlbc -f -n __fish_use_subcommand -a {table.name} -d {_quoted(table.text)}")
        lines += [
            _fish_line(table.name, option) for option in table.options if option.words or option.choices
        ]
    return "\n".join(lines)


def _fish_line(command: str, option: ShellOption) -> str:
    names = [f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in option.words]
    value = [f"-x -a {_quoted(' '.join(option.choices))}"] if option.choices else []
    value = value or (["-r"] if option.has_value else [])
    condition = _quoted(f"__fish_seen_subcommand_from {command}")
    return " ".join(["complete -c dlbc -n", condition, *names, *value, "-d", _quoted(option.text)])


def _quoted(text: str) -> str:
    """A text as one word of a shell: these three read single quotes alike where none is inside."""
    return "'" + text.replace("'", "").replace("\\", "") + "'"


SHELLS: Mapping[str, Callable[[tuple[CommandTable, ...]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
