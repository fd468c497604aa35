"""The options of a run, read once from the environment before any work starts (contract, section 6).

An empty variable counts as not set. All malformed options are reported at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TypeVar

from dlbrt.balance import strategies as registry
from dlbrt.contract import BASELINES, ENVIRONMENT, HISTORIES, LAST, STRATEGIES, TRIAL, OptionError, nearest
from dlbrt.emulation import LoadSpec, named, parse_cliffs, parse_load, parse_speeds, parse_weights
from dlbrt.predict.groups import GroupSpec, parse_group
from dlbrt.records import dataclass

_T = TypeVar("_T")

#: Progress is shown even where no terminal is found.
ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run; None: not set. The emulated speeds are also part of ``load``, with their cliffs.

    ``weights_last`` takes the speeds measured by the last run in place of ``weights``; in a ``trial``
    iterations are dealt in turn, so that speeds can be measured. ``learned`` is the file from which these and
    all other measurements are read, and to which they are written; with ``model`` all of them are used from
    the first iteration on. ``progress``: bars are shown, where a terminal is found or (`ALWAYS`) in any case.
    ``summary``: a few lines at the end say where the time went. ``threads``: on how
    many threads a rank runs compiled chunks. ``timeout_s``: the silence of a rank that ends the job; 0:
    none does. ``fault_tolerant``: the job goes on when ranks above 0 die.
    """

    strategy: str | None = None
    group: GroupSpec = field(default_factory=GroupSpec)
    adapt: bool = False
    whole_history: bool = False
    trust: bool = False
    threads: int = 1
    stats: str | None = None
    trace: str | None = None
    progress: str | None = None
    summary: bool = False
    load: LoadSpec = field(default_factory=LoadSpec)
    speeds: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    weights_last: bool = False
    trial: bool = False
    learned: str | None = None
    model: bool = False
    timeout_s: float = 0.0
    fault_tolerant: bool = False

    @property
    def keeper(self) -> str:
        """The option that set ``learned``."""
        return "model" if self.model else "learned"

    @classmethod
    def read(cls, environ: Mapping[str, str], ranks: int) -> Options:
        """The options of a run on ``ranks`` ranks; OptionError with a line for each malformed one."""
        reader = _Reader(environ)
        load = reader.take("load", lambda text: parse_load(text, ranks)) or LoadSpec()
        speeds = reader.take("speeds", lambda text: parse_speeds(text, ranks))
        cliffs = parse_cliffs(reader.text("speeds"), ranks) if speeds else ()
        options = cls(
            strategy=reader.take("strategy", _strategy),
            group=reader.take("group", lambda text: parse_group(text, ranks)) or GroupSpec(),
            adapt=reader.take("adapt", lambda text: _switch("adapt", text)) or False,
            whole_history=reader.take("history", _whole_history) or False,
            trust=reader.take("trust", lambda text: _switch("trust", text)) or False,
            threads=reader.take("threads", _threads) or 1,
            stats=reader.take("stats", lambda text: _file("stats", text)),
            trace=reader.take("trace", lambda text: _file("trace", text)),
            progress=reader.take("progress", _progress),
            summary=reader.take("summary", lambda text: _switch("summary", text)) or False,
            load=replace(load, speeds=speeds or (), cliffs=cliffs),
            speeds=speeds,
            weights=reader.take("weights", lambda text: parse_weights(text, ranks)),
            weights_last=reader.text("weights") == LAST,
            trial=reader.text("weights") == TRIAL,
            learned=reader.take("learned", lambda text: _file("learned", text)),
            timeout_s=reader.take("timeout", _timeout) or 0.0,
            fault_tolerant=reader.take("fault_tolerant", lambda text: _switch("fault_tolerant", text))
            or False,
        )
        if model := reader.take("model", lambda text: _file("model", text)):
            if options.learned:
                without = f"expected it without {named('learned')}; found both"
                reader.errors.append(f"{named('model')}: {without}")
            options = replace(options, learned=model, model=True)
        if reader.errors:
            raise OptionError("\n".join(reader.errors))
        return options


class _Reader:
    """Takes values from the environment and collects their errors."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.errors: list[str] = []

    def text(self, option: str) -> str:
        """The value without surrounding blanks; empty if it is not set."""
        return self._environ.get(ENVIRONMENT[option], "").strip()

    def take(self, option: str, parse: Callable[[str], _T]) -> _T | None:
        """The parsed value; None if it is not set or malformed."""
        text = self._environ.get(ENVIRONMENT[option], "")
        if not self.text(option):
            return None
        try:
            return parse(text)
        except OptionError as error:
            self.errors.append(str(error))
            return None


def _strategy(text: str) -> str:
    name, available = text.strip(), (registry.AUTO, *sorted(registry.names(), key=_contract_order))
    if name in available:
        return name
    has = "this version has " + ", ".join(available)
    raise OptionError(f"{named('strategy')}: {has}; found {name!r}{nearest(name, available)}")


def _contract_order(name: str) -> int:
    """The place of a strategy in the contract, baselines last."""
    return (*STRATEGIES, *BASELINES).index(name)


def _switch(option: str, text: str) -> bool:
    if text.strip() not in ("0", "1"):
        raise OptionError(f"{named(option)}: expected 1, or 0 for no; found {text.strip()!r}")
    return text.strip() == "1"


def _progress(text: str) -> str | None:
    if text.strip() not in ("0", "1", ALWAYS):
        raise OptionError(f"{named('progress')}: expected 1, {ALWAYS}, or 0 for no; found {text.strip()!r}")
    return text.strip() if text.strip() != "0" else None


def _whole_history(text: str) -> bool:
    if text.strip() not in HISTORIES:
        found = f"found {text.strip()!r}{nearest(text.strip(), HISTORIES)}"
        raise OptionError(f"{named('history')}: expected {' or '.join(HISTORIES)}; {found}")
    return text.strip() == HISTORIES[1]


def _threads(text: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,3}", text.strip()):
        raise OptionError(f"{named('threads')}: expected an integer from 1 to 9999; found {text.strip()!r}")
    return int(text)


def _timeout(text: str) -> float:
    """Seconds, from 1 to a year."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 1 <= found <= 3.2e7:
        raise OptionError(f"{named('timeout')}: expected seconds, at least 1; found {text.strip()!r}")
    return found


def _file(option: str, text: str) -> str:
    """The path of a file that can be written."""
    directory = os.path.dirname(os.path.abspath(text))
    if not os.path.isdir(directory):
        raise OptionError(f"{named(option)}: expected a file in an existing directory; found {text!r}")
    if os.path.isdir(text) or not os.access(text if os.path.exists(text) else directory, os.W_OK):
        raise OptionError(f"{named(option)}: expected a file that can be written; found {text!r}")
    return text
