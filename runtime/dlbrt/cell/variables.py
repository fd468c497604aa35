"""The variables of a notebook in the program of a cell, and what the cell leaves of them.

The notebook writes what the cell reads (`write`). The program loads it (`CellVariables`), runs, and writes
what the cell has left, which the notebook takes over (`take_over`). Objects keep their identity: an object
that came from the notebook is a number on its way back, with its state if that can have changed, and the
notebook gives the state to its own object.
"""

from __future__ import annotations

import builtins
import pickle
import sys
import traceback
import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.cell import module_state
from dlbrt.cell.objects import digest_of, restore, state_of, views_of, walk
from dlbrt.cell.pickles import KNOWN, image_of, read, unpicklable, use_globals, write

#: The name in the program under which it finds the notebook's variables.
VARIABLES = "_dlb_cell"


class CellVariables(dict[str, Any]):
    """In the program: the notebook's variables, loaded when the first is asked for."""

    def __init__(self, directory: Path, namespace: builtins.dict[str, Any]) -> None:
        super().__init__()
        self._directory, self._namespace = directory, namespace
        self._order: list[Any] = []
        self._digests: list[bytes | None] = []
        self._sent: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._images: dict[str, bytes] = {}  # of values that are not known by number
        self._modules: dict[str, Any] = {}

    def __missing__(self, name: str) -> Any:
        if self._order:
            raise KeyError(name)
        use_globals(self._namespace)
        values, self._order = read(self._directory / "sent", lambda _, named: self._namespace[named])
        self._digests = list(map(digest_of, self._order))
        self.update(values)
        self._sent = dict(values)
        known = set(map(id, self._order))
        others = [name for name in values if id(values[name]) not in known]
        self._images = {name: image_of(values[name], self._namespace) for name in others}
        # What only functions read is in no statement of the program.
        for hidden in values.keys() - self._namespace.keys():
            self._namespace[hidden] = values[hidden]
        return values[name]

    def dict(self, name: str) -> Any:
        """A variable that is a dictionary."""
        return self[name]

    def begin(self) -> None:
        """The cell's own statements begin."""
        use_globals(self._namespace)
        module_state.apply(read(self._directory / "modules", lambda _, named: self._namespace[named]))
        self._before, self._modules = dict(self._namespace), module_state.capture()

    def save(self, defines: Iterable[str], by_name: Iterable[str]) -> None:
        """Write what the cell has left; nothing where it has not begun, as values could not be read.

        ``defines`` are the functions and classes that its text defines, ``by_name`` are the notebook's.
        """
        if not self._modules:
            return
        defined = [name for name in defines if name in self._namespace]
        named = [*defined, *by_name]
        before, after = {**self._before, **self._sent}, self._namespace
        left = {
            name: value
            for name, value in after.items()
            if name not in defined
            and not _is_hidden(name, value)
            and (name not in before or value is not before[name])
        }
        # What cannot be changed in the notebook's own object is replaced there.
        left |= {
            name: self._sent[name]
            for name, image in self._images.items()
            if after.get(name) is self._sent[name] and image_of(self._sent[name], after) != image
        }
        deleted = [name for name in self._sent if name not in after]
        known = {id(each): (KNOWN, number) for number, each in enumerate(self._order)}
        arrays = [each for each in walk([*left.values(), *self._order]) if type(each) is np.ndarray]
        views, mixed = views_of(arrays, known)
        states = [
            (number, state_of(each))
            for number, (each, digest) in enumerate(zip(self._order, self._digests, strict=True))
            # Parts of other arrays change with these.
            if id(each) not in views and (digest is None or digest != digest_of(each))
        ]
        changed = [(number, _Content(state)) for number, state in states if state is not None]
        lost: dict[str, str] = {}
        for name in list(left):
            if not mixed.isdisjoint(map(id, walk([left[name]]))):
                lost[name] = "it shares memory with another array, which its copy would not"
                del left[name]
            elif problem := unpicklable(left[name], after, named, known):
                lost[name] = problem
                del left[name]
        (self._directory / "defined").write_bytes(pickle.dumps(defined))
        modules = module_state.changed(self._modules, module_state.capture())
        # Of functions that stand in the program's text.
        functions = {name: after.get(name) for name in by_name}
        attributes = {
            name: vars(each) for name, each in functions.items() if isinstance(each, types.FunctionType)
        }
        value = list(map(_type_name, self._order)), left, deleted, changed, lost, modules, attributes
        write(self._directory / "left", value, after, named, known, views)


class _Content:
    """The state of an object, which may be a known array itself."""

    def __init__(self, state: Any) -> None:
        self.state = state.copy() if isinstance(state, np.ndarray) else state


def _type_name(value: object) -> str:
    return type(value).__qualname__


def _is_hidden(name: str, value: object) -> bool:
    """Whether a name is one that the program has added to the cell's."""
    return name.startswith(("__", "_dlb_")) or type(value).__module__.partition(".")[0] == "dlbrt"


def take_over(
    directory: Path, namespace: dict[str, Any], order: list[Any], define: Callable[[list[str]], object]
) -> dict[str, str]:
    """In the notebook: take over what the cell has left; the names that could not leave it, and why.

    ``order`` are the objects that were sent, as `walk` has found them. ``define`` defines the functions and
    classes of the cell that it is given. RuntimeError if the program has found other objects.
    """
    use_globals(namespace)

    def found(kind: str, what: Any) -> Any:
        return order[what] if kind == KNOWN else namespace[what]

    def not_yet(kind: str, what: Any) -> Any:
        return order[what] if kind == KNOWN else namespace.get(what)

    if defined := pickle.loads((directory / "defined").read_bytes()):
        # Values may be of these classes, and what defines these may read values.
        with suppress(Exception):  # a value that cannot be made of what is not there yet
            namespace.update(read(directory / "left", not_yet)[1])
        define(defined)
    types_found, left, deleted, changed, lost, modules, attributes = read(directory / "left", found)
    if types_found != list(map(_type_name, order)):
        raise RuntimeError("the variables of the notebook have changed their form on the way to the cell")
    for number, content in changed:
        restore(order[number], content.state)
    module_state.apply(modules)
    for name, given in attributes.items():
        vars(namespace[name]).update(given)
    namespace.update(left)
    for name in deleted:
        namespace.pop(name, None)
    return dict(lost)


def run_cell(
    directory: Path,
    defines: list[str],
    by_name: list[str],
    prepare: Callable[[], tuple[types.CodeType, dict[str, Any]]],
) -> None:
    """Run the program of a cell over the variables in ``directory``, and leave there what it has left.

    ``defines`` and ``by_name`` are as for `CellVariables.save`; ``prepare`` gives its code and its namespace.
    """
    sys.excepthook = note_failure(directory / "failure")
    code, namespace = prepare()
    namespace[VARIABLES] = variables = CellVariables(directory, namespace)
    try:
        exec(code, namespace)
    finally:
        variables.save(defines, by_name)


def note_failure(file: Path) -> Callable[..., None]:
    """An exception hook that writes how and where the program failed: file, line, columns, function."""

    def hook(kind: type[BaseException], error: BaseException, tb: types.TracebackType | None) -> None:
        shown = traceback.TracebackException(kind, error, tb)
        frames = [
            (each.filename, each.lineno or 0, each.colno, each.end_lineno, each.end_colno, each.name)
            for each in traceback.extract_tb(tb)
        ]
        text = "".join(shown.format_exception_only())
        try:
            data = cloudpickle.dumps(error)
            pickle.loads(data)
        except Exception:  # exceptions' own hooks may raise anything
            data = b""
        file.write_bytes(pickle.dumps((kind.__qualname__, text, frames, data)))

    return hook
