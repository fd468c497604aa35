"""The variables of a notebook in a program that runs one of its cells, and back again.

The notebook writes what the cell reads (`write`). The program loads it (`CellVariables`), runs, and writes
what the cell has left, which the notebook takes over (`take_over`). Objects keep their identity: both sides
walk the values alike (`walk`), so an object that came from the notebook is a number on its way back, with its
state if that can have changed, and the notebook gives the state to its own object.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib
import io
import pickle
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.data.set_tables import copy_of, give_contents
from dlbrt.mpi.values.set_pickles import Call, dump_in_order, load

#: The name in the program under which it finds the notebook's variables.
VARIABLES = "_dlb_cell"

#: Objects that change in place, and whose contents are walked.
_CONTAINERS = (list, dict, set, bytearray)

#: What says that an object in the stream is one of the notebook's.
_KNOWN, _NAMED, _MODULE = "known", "named", "module"


def walk(values: Iterable[Any]) -> list[Any]:
    """The objects with a state of their own that values consist of, each once, in an order of their own."""
    found: dict[int, Any] = {}
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        if id(value) in found or not _is_walked(value):
            continue
        found[id(value)] = value
        waiting += list(_parts(value))[::-1]
    return [each for each in found.values() if type(each) not in (tuple, frozenset)]


def _is_walked(value: Any) -> bool:
    plain = type(value) in (*_CONTAINERS, tuple, np.ndarray) or isinstance(value, type | types.FunctionType)
    return plain or has_plain_state(value)


def has_plain_state(value: Any) -> bool:
    """Whether an object's state is its ``__dict__``, and no class says how it is pickled."""
    kind = type(value)
    if isinstance(value, type | types.ModuleType | types.FunctionType) or not hasattr(value, "__dict__"):
        return False
    standard = all(getattr(kind, name, None) is getattr(object, name, None) for name in _OF_PICKLING)
    return standard and all(_adds_a_dictionary(each) for each in kind.__mro__[:-1])


#: The methods by which classes say how their objects are pickled.
_OF_PICKLING = (
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
    *("__getnewargs__", "__getnewargs_ex__", "__new__"),
)

#: The flag of classes that Python code has made.
_HEAP_TYPE = 1 << 9


def _adds_a_dictionary(kind: type) -> bool:
    """Whether what a class adds to its objects lies in their ``__dict__``."""
    return bool(kind.__flags__ & _HEAP_TYPE) and "__slots__" not in vars(kind)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject and value.dtype == object:
            yield from value.flat
    elif has_plain_state(value):
        yield from vars(value).values()


def _state(value: Any) -> Any:
    """What an object is given back; None where it has no state that can change."""
    if isinstance(value, dict):
        return list(value.items())
    if type(value) is set:
        return copy_of(value)
    if type(value) in _CONTAINERS:
        return list(value)
    if type(value) is np.ndarray:
        return value
    return dict(vars(value)) if has_plain_state(value) else None


def _restore(value: Any, state: Any) -> None:
    """Give an object the state that `_state` has found elsewhere."""
    if isinstance(value, np.ndarray):
        np.copyto(value, state, casting="no")
    elif isinstance(value, list | bytearray):
        value[:] = state
    elif isinstance(value, set):
        give_contents(value, state)
    elif isinstance(value, dict):
        value.clear()
        value.update(state)
    else:
        vars(value).clear()
        vars(value).update(state)


def _digest(value: Any) -> bytes | None:
    """A digest of an array of numbers; None for other objects, whose state always travels."""
    if type(value) is not np.ndarray or value.dtype.hasobject:
        return None
    return hashlib.blake2b(np.ascontiguousarray(value).view(np.uint8).data).digest()


def _function(code: types.CodeType, name: str, cells: int) -> types.FunctionType:
    """A function of the notebook, whose globals are the program's, or the notebook's where it comes back."""
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(code, _globals_of_functions, name, None, closure)


def _complete(function: types.FunctionType, state: tuple[Any, ...]) -> None:
    defaults, keywords, attributes, about, contents = state
    function.__defaults__, function.__kwdefaults__ = defaults, keywords
    function.__dict__.update(attributes)
    function.__qualname__, function.__doc__, function.__annotations__, function.__module__ = about
    for cell, content in zip(function.__closure__ or (), contents, strict=True):
        cell.cell_contents = content


_globals_of_functions: dict[str, Any] = {}


def use_globals(namespace: dict[str, Any]) -> None:
    """Functions that are loaded from now on have these globals."""
    global _globals_of_functions
    _globals_of_functions = namespace


class CellPickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles values of a namespace; functions of it find its names where they arrive.

    ``by_name`` are its functions that are there by name; ``known`` are objects that go as a tag. ``wanted``
    collects the names that functions look for.
    """

    def __init__(
        self,
        file: Any,
        namespace: Mapping[str, Any],
        by_name: Iterable[str] = (),
        known: Mapping[int, tuple[str, Any]] | None = None,
        buffer_callback: Callable[[pickle.PickleBuffer], Any] | None = None,
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffer_callback)
        self._namespace = namespace
        self._known = dict(known or {})
        self._known |= {id(namespace[name]): (_NAMED, name) for name in by_name if name in namespace}
        self.wanted: set[str] = set()

    def persistent_id(self, value: Any) -> Any:
        """The tag of an object that is known where it arrives."""
        if isinstance(value, types.ModuleType) and value.__name__ in sys.modules:
            return _MODULE, value.__name__
        return self._known.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        """How functions of the namespace travel; all else as cloudpickle has it."""
        if type(value) is Call:
            return value.reduced
        if isinstance(value, types.FunctionType) and value.__globals__ is self._namespace:
            self.wanted |= set(names_of(value.__code__))
            contents = tuple(cell.cell_contents for cell in value.__closure__ or ())
            about = (value.__qualname__, value.__doc__, value.__annotations__, value.__module__)
            state = (value.__defaults__, value.__kwdefaults__, vars(value), about, contents)
            made = (value.__code__, value.__name__, len(contents))
            return _function, made, state, None, None, _complete
        if isinstance(value, io.IOBase) and not isinstance(value, io.BytesIO | io.StringIO):
            raise TypeError("it is, or holds, an open file")
        return super().reducer_override(value)


def names_of(code: types.CodeType) -> Iterator[str]:
    """The names that code, and the code inside it, looks for outside of functions."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_of(constant)


class _Loader(pickle.Unpickler):
    """Reads what `CellPickler` has written."""

    def __init__(self, data: Any, buffers: Any, found: Callable[[str, Any], Any]) -> None:
        super().__init__(data, buffers=buffers)
        self._found = found

    def persistent_load(self, tag: tuple[str, Any]) -> Any:
        """The object that a tag stands for."""
        kind, what = tag
        return importlib.import_module(what) if kind == _MODULE else self._found(kind, what)


def write(
    path: Path,
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None = None,
) -> None:
    """Write a value, pickled by a `CellPickler`, and the memory of its arrays."""
    data, buffers = _pickled(value, namespace, by_name, known)
    raw = [buffer.raw() for buffer in buffers]
    with path.open("wb") as file:
        pickle.dump((len(data), [each.nbytes for each in raw]), file)
        file.write(data)
        for each in raw:
            file.write(each)


def _pickled(
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None,
) -> tuple[bytes, list[pickle.PickleBuffer]]:
    buffers: list[pickle.PickleBuffer] = []

    def pickler() -> tuple[CellPickler, io.BytesIO]:
        buffers.clear()
        stream = io.BytesIO()
        return CellPickler(stream, namespace, by_name, known, buffers.append), stream

    _, data = dump_in_order(pickler, value)
    return data, buffers


def read(path: Path, found: Callable[[str, Any], Any]) -> Any:
    """The value that `write` has written; ``found`` gives the objects that tags stand for."""
    with path.open("rb") as file:
        size, sizes = pickle.load(file)
        data = io.BytesIO(file.read(size))
        buffers = []
        for each in sizes:
            buffers.append(memory := bytearray(each))
            file.readinto(memory)
    (value,) = load(_Loader(data, buffers, found), data)
    return value


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

    def __missing__(self, name: str) -> Any:
        if self._order:
            raise KeyError(name)
        use_globals(self._namespace)
        values = read(self._directory / "sent", lambda _, named: self._namespace[named])
        self._order = walk(values[each] for each in sorted(values))
        self._digests = list(map(_digest, self._order))
        self.update(values)
        self._sent = dict(values)
        known = set(map(id, self._order))
        others = [name for name in values if id(values[name]) not in known]
        self._images = {name: _image(values[name], self._namespace) for name in others}
        # What only functions read is in no statement of the program.
        for hidden in values.keys() - self._namespace.keys():
            self._namespace[hidden] = values[hidden]
        return values[name]

    def dict(self, name: str) -> Any:
        """A variable that is a dictionary."""
        return self[name]

    def begin(self) -> None:
        """The cell's own statements begin."""
        self._before = dict(self._namespace)

    def save(self, defines: Iterable[str], by_name: Iterable[str]) -> None:
        """Write what the cell has left.

        ``defines`` are the functions and classes that its text defines, ``by_name`` are the notebook's.
        """
        defined = [name for name in defines if name in self._namespace]
        named = [*defined, *by_name]
        before, after = {**self._before, **self._sent}, self._namespace
        left = {
            name: value
            for name, value in after.items()
            if name not in defined
            and not _is_hidden(name)
            and (name not in before or value is not before[name])
        }
        # What cannot be changed in the notebook's own object is replaced there.
        left |= {
            name: self._sent[name]
            for name, image in self._images.items()
            if after.get(name) is self._sent[name] and _image(self._sent[name], after) != image
        }
        deleted = [name for name in self._sent if name not in after]
        known = {id(each): (_KNOWN, number) for number, each in enumerate(self._order)}
        states = [
            (number, _state(each))
            for number, (each, digest) in enumerate(zip(self._order, self._digests, strict=True))
            if digest is None or digest != _digest(each)
        ]
        changed = [(number, _Content(state)) for number, state in states if state is not None]
        lost: dict[str, str] = {}
        for name in list(left):
            if problem := unpicklable(left[name], after, named, known):
                lost[name] = problem
                del left[name]
        (self._directory / "defined").write_bytes(pickle.dumps(defined))
        value = list(map(_type_name, self._order)), left, deleted, changed, lost
        write(self._directory / "left", value, after, named, known)


def _image(value: Any, namespace: Mapping[str, Any]) -> bytes:
    """A digest of the pickle of a value; empty where it has none."""
    stream, buffers = io.BytesIO(), list[pickle.PickleBuffer]()
    try:
        CellPickler(stream, namespace, buffer_callback=buffers.append).dump(value)
    except Exception:  # values' own hooks may raise anything
        return b""
    digest = hashlib.blake2b(stream.getbuffer())
    for each in buffers:
        digest.update(each.raw())
    return digest.digest()


class _Content:
    """The state of an object, which may be a known array itself."""

    def __init__(self, state: Any) -> None:
        self.state = state.copy() if isinstance(state, np.ndarray) else state


def unpicklable(
    value: Any,
    namespace: Mapping[str, Any],
    by_name: Iterable[str],
    known: Mapping[int, tuple[str, Any]] | None = None,
) -> str:
    """Why a value cannot be pickled; empty if it can."""
    try:
        _pickled(value, namespace, by_name, known)
    except Exception as error:  # values' own hooks may raise anything
        return f"{type(error).__name__}: {error}"
    return ""


def _type_name(value: object) -> str:
    return type(value).__qualname__


def _is_hidden(name: str) -> bool:
    return name.startswith(("__", "_dlb_")) or name == "dlb"


def take_over(
    directory: Path, namespace: dict[str, Any], order: list[Any], define: Callable[[list[str]], object]
) -> dict[str, str]:
    """In the notebook: take over what the cell has left; the names that could not leave it, and why.

    ``order`` are the objects that were sent, as `walk` has found them. ``define`` defines the functions and
    classes of the cell that it is given. RuntimeError if the program has found other objects.
    """
    use_globals(namespace)

    def found(kind: str, what: Any) -> Any:
        return order[what] if kind == _KNOWN else namespace[what]

    def not_yet(kind: str, what: Any) -> Any:
        return order[what] if kind == _KNOWN else namespace.get(what)

    if defined := pickle.loads((directory / "defined").read_bytes()):
        # Values may be of these classes, and what defines these may read values.
        with suppress(Exception):  # a value that cannot be made of what is not there yet
            namespace.update(read(directory / "left", not_yet)[1])
        define(defined)
    types_found, left, deleted, changed, lost = read(directory / "left", found)
    if types_found != list(map(_type_name, order)):
        raise RuntimeError("the variables of the notebook have changed their form on the way to the cell")
    for number, content in changed:
        _restore(order[number], content.state)
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
