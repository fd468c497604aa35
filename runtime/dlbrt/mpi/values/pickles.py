"""Pickles whose memo begins with objects that the reader has.

A pickler gives each object that it meets a number, and writes the number where it meets the object again; an
unpickler counts alike. Both begin here with the same objects, so an object that the reader has goes as its
number and arrives as itself, whatever its type, and nothing has to be looked up for the others. Nor does the
numbering of what comes with a pickle have to be sent: reader and writer have met it in the same order.
"""

from __future__ import annotations

import copyreg
import enum
import io
import itertools
import pickle
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import cloudpickle
import numpy as np
from cloudpickle.cloudpickle import (
    _class_setstate,
    _lookup_class_or_track,
    _make_skeleton_class,
    _make_skeleton_enum,
)

from dlbrt.contract import KERNEL_PREFIX
from dlbrt.mpi.values.caches import CACHED, make_cached
from dlbrt.mpi.values.exceptions import of_exception
from dlbrt.mpi.values.generators import SEEDS, reduction_of_global
from dlbrt.mpi.values.program_modules import is_of_program

PROTOCOL = pickle.HIGHEST_PROTOCOL

#: Opcodes that put the next buffer, here any object, into the memo; and the frame around them.
_NUMBER_NEXT = pickle.NEXT_BUFFER + pickle.MEMOIZE + pickle.POP
_BEGIN = pickle.PROTO + bytes([PROTOCOL]) + pickle.FRAME
_END = pickle.NONE + pickle.STOP

_READING_HOOKS = (
    "__reduce__",
    "__reduce_ex__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__new__",
)

Reducer = Callable[[Any], "tuple[Any, ...] | None"]

_K = TypeVar("_K", bound=Callable[..., None])

#: An object with its number in a pickler's memo.
Entry = tuple[int, Any]

_NUMBER = itemgetter(0)


class _Filler:
    """Takes a number that no object may have twice."""

    __slots__ = ()


class Numbering:
    """Objects by number; kept alive, so that no other object takes over an identity."""

    def __init__(self, objects: Iterable[Any] = ()) -> None:
        self.objects: list[Any] = []
        self.memo: dict[int, Entry] = {}
        self.extend(objects)

    def __len__(self) -> int:
        return len(self.objects)

    def extend(self, objects: Iterable[Any]) -> None:
        """Give objects the next numbers."""
        memo, known, new = self.memo, self.objects, list(objects)
        ids = list(map(id, new))
        if len(set(ids)) == len(ids) and memo.keys().isdisjoint(ids):
            memo.update(zip(ids, zip(itertools.count(len(known)), new, strict=False), strict=True))
            known += new
            return
        for value in new:
            entry = len(known), value if id(value) not in memo else _Filler()
            memo[id(entry[1])] = entry
            known.append(value)


class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle, with the objects of ``numbering`` as numbers.

    ``taken_apart`` returns the reduction (as ``__reduce__``) of objects that are not to be pickled in their
    own way, else None.
    """

    def __init__(self, file: io.BytesIO, numbering: Numbering) -> None:
        super().__init__(file, protocol=PROTOCOL)
        self.memo = numbering.memo
        self.taken_apart: Reducer = lambda _: None
        self.has_hooks = False  # whether a class of the program has its own way of being read
        self._classes: set[type] = set()  # those without; classes that outlived a run would hold their module
        self._many: set[type] = set()  # those among them of which `_is_of_numpy`

    def reducer_override(self, obj: Any) -> Any:
        """See `pickle.Pickler`."""
        kind = type(obj)
        if kind in self._many:
            # What the pickler would find in the end; there may be one such object for each iteration.
            return self.taken_apart(obj) or obj.__reduce_ex__(PROTOCOL)
        if kind is FunctionType and obj.__name__.startswith(KERNEL_PREFIX):
            by_value(obj)
        if not self.has_hooks and kind not in self._classes:
            self.has_hooks = _has_hooks(kind)
            self._classes.add(kind)
            if _is_of_numpy(kind):
                self._many.add(kind)
        reduced = self.taken_apart(obj) or common_reduction(obj) or super().reducer_override(obj)
        return _of_class(obj, reduced) if isinstance(obj, type) else reduced


def _is_of_numpy(kind: type) -> bool:
    """Whether objects of a class are arrays or seeds, of which there may be many, that nobody reduces."""
    many = kind is np.ndarray or (kind.__name__ == "SeedSequence" and kind.__module__ == SEEDS)
    return many and kind not in copyreg.dispatch_table


def by_value(kernel: _K) -> _K:
    """The kernel, under a name that no module has: so it goes to other ranks by value.

    A rank that imports the kernel's module may find the source there, which has no kernels. Functions that go
    by value, since a decorator hides them, bring the kernels of their loops.
    """
    if kernel.__module__ != "__main__":
        kernel.__qualname__ = f"<loops>.{kernel.__name__}"
    return kernel


class Writer:
    """Writes pickles with one memo, which begins with the objects of ``numbering``.

    Each is of a list with the value, which so has the first number of the pickle. ``tried``: what hooks of
    the program's own classes are going to read is read here first.
    """

    def __init__(self, numbering: Numbering, *, tried: bool = False) -> None:
        self._tried = tried
        self._file = io.BytesIO()
        self._pickler = Pickler(self._file, numbering)
        self._snapshot: Numbering | None = numbering
        self._added: list[Any] = []  # objects to be numbered next

    @property
    def numbering(self) -> Numbering:
        """The objects met so far."""
        if self._snapshot is None:
            self._snapshot = Numbering(met_by_pickler(self._pickler))
        self._number_added()
        return self._snapshot

    def dump(self, value: Any, taken_apart: Reducer = lambda _: None, kept: Collection[int] = ()) -> bytes:
        """The next pickle. Raises what the objects' own hooks raise, and is then as before.

        TypeError where it is the first to bring one of the objects with the identities ``kept``.
        """
        self._number_added()
        pickler, begun = self._pickler, [value]
        self._snapshot = None
        self._file.seek(0)
        self._file.truncate()
        pickler.taken_apart = taken_apart
        pickler.has_hooks = False
        try:
            pickler.dump(begun)
            if kept and any(id(met) in kept for met in _met_since(pickler, begun)):
                raise TypeError("iterations keep what a function has in its cache, and each rank has its own")
            if self._tried and pickler.has_hooks:
                Reader(_met_before(pickler, begun)).load(self._file.getvalue())
        except BaseException:
            self._restart(Numbering(_met_before(pickler, begun)))
            raise
        return self._file.getvalue()

    def extend(self, objects: Iterable[Any]) -> None:
        """Number objects that the reader numbers alike, as soon as any number is needed."""
        self._added += objects

    def are_new(self, objects: Collection[Any]) -> bool:
        """Whether each of these is another object, and none has a number or will have one."""
        ids, met = set(map(id, objects)), self._pickler.memo.copy()
        return len(ids) == len(objects) and ids.isdisjoint(met) and ids.isdisjoint(map(id, self._added))

    def _number_added(self) -> None:
        added, self._added = self._added, []
        if added:
            numbering = Numbering(self.numbering.objects)
            numbering.extend(added)
            self._restart(numbering)

    def _restart(self, numbering: Numbering) -> None:
        self._pickler = Pickler(self._file, numbering)
        self._snapshot, self._added = numbering, []


class Reader:
    """Reads pickles that a `Writer` has written, in the same order; the memo begins with ``objects``."""

    def __init__(
        self, objects: Sequence[Any], kind: Callable[..., pickle.Unpickler] = pickle.Unpickler
    ) -> None:
        self._kind = kind
        self._obstacle: str | None = None
        self._added: list[Any] = []  # objects to be numbered next
        self._begin(objects)

    @property
    def objects(self) -> list[Any]:
        """The objects met so far."""
        self._number_added()
        return [value for _, value in sorted(self._unpickler.memo.copy().items(), key=_NUMBER)]

    def load(self, data: bytes | bytearray | memoryview) -> Any:
        """The value of the next pickle; after one that could not be read, the numbers of none are known."""
        if self._obstacle is not None:
            raise pickle.UnpicklingError(self._obstacle)
        self._number_added()
        try:
            (value,) = self._load(data)
        except Exception as error:  # objects' own pickling hooks may raise anything
            self._obstacle = str(error)
            raise
        return value

    def extend(self, objects: Iterable[Any]) -> None:
        """Number objects that the writer numbers alike, as soon as any number is needed."""
        self._added += objects

    def _number_added(self) -> None:
        added, self._added = self._added, []
        if added:
            self._begin([*self.objects, *added])

    def _begin(self, objects: Sequence[Any]) -> None:
        self._stream = io.BytesIO()
        self._unpickler: Any = self._kind(self._stream, buffers=iter(objects))
        numbers = _NUMBER_NEXT * len(objects) + _END
        self._load(b"".join((_BEGIN, len(numbers).to_bytes(8, "little"), numbers)))

    def _load(self, data: bytes | bytearray | memoryview) -> Any:
        self._stream.seek(0)
        self._stream.truncate()
        self._stream.write(data)
        self._stream.seek(0)
        return self._unpickler.load()


def _met_before(pickler: Any, obj: Any) -> list[Any]:
    """The objects that a pickler has met before one that it may have met."""
    return list(itertools.takewhile(lambda met: met is not obj, met_by_pickler(pickler)))


def _met_since(pickler: Any, obj: Any) -> list[Any]:
    """The objects that a pickler has met since one, and that one."""
    return met_by_pickler(pickler)[len(_met_before(pickler, obj)) :]


def _has_hooks(kind: type) -> bool:
    """Whether the program says how objects of a class are read: that may fail where writing did not."""
    hooks = (getattr(kind, name, None) for name in _READING_HOOKS)
    return any(isinstance(hook, FunctionType) and not _is_installed(hook) for hook in hooks)


def _is_installed(function: FunctionType) -> bool:
    """Whether a function is of the standard library, made by it, or of an installed package."""
    return function.__code__.co_filename.startswith((sys.prefix, sys.base_prefix, "<", "namedtuple_"))


def met_by_pickler(pickler: Any) -> list[Any]:
    """The objects that a pickler has met, in the order of its numbering."""
    return [value for _, value in sorted(pickler.memo.copy().values(), key=_NUMBER)]


def common_reduction(obj: Any) -> tuple[Any, ...] | None:
    """The reduction of what cloudpickle would send otherwise than as it is; TypeError for what cannot be.

    A function of the program under ``lru_cache`` pickles itself by name, but other ranks have no ``__main__``
    to find it in. A view of memory would arrive as bytes, an exception without what caused it, the global
    random generators as copies, an array of a subclass without its attributes.
    """
    if isinstance(obj, BaseException):
        return of_exception(obj)
    if (reduced := reduction_of_global(obj)) is not None:
        return reduced
    if type(obj) is memoryview:
        return _of_memory(obj)
    if isinstance(obj, np.ndarray) and type(obj) is not np.ndarray and (reduced := _of_subclass(obj)):
        return reduced
    if isinstance(obj, type) and type(obj).__module__ == "_ctypes" and not _is_named(obj):
        raise TypeError(f"{obj.__name__} is a type of ctypes that other ranks do not have")
    if type(obj) is not CACHED or (obj.__module__ != "__main__" and "<locals>" not in obj.__qualname__):
        _refuse_finalizer(obj)
        return None
    return make_cached, (obj.__wrapped__, *obj.cache_parameters().values())


def _refuse_finalizer(obj: Any) -> None:
    """TypeError for a class with a finalizer in Python, and its instances: copies would be finalized too."""
    kind = obj if isinstance(obj, type) else type(obj)
    if isinstance(getattr(kind, "__del__", None), FunctionType):
        raise TypeError(f"the finalizer of {kind.__name__} would run on other ranks")


def _of_class(kind: type, reduced: Any) -> Any:
    """The reduction of a class, whose copies get its slots too: cloudpickle forgets them.

    Instances of a class without them have a dictionary in their place, and so another pickled state. A
    `NamedTuple` gets its slots as it is made, and takes no others.
    """
    if isinstance(kind, enum.EnumMeta):
        return reduced if reduced is NotImplemented else _of_enum(kind, reduced)
    if reduced is NotImplemented or reduced[0] is not _make_skeleton_class:
        return reduced
    _, (*before, members, number, extra), *rest = reduced
    slots = kind.__dict__.get("__slots__")
    if slots is not None and NamedTuple not in kind.__dict__.get("__orig_bases__", ()):
        members |= {"__slots__": slots}
    return _make_class, (*before, members, number, extra), *rest


#: Stands for what a class of the program does where a class is derived from it.
_DERIVES = classmethod(lambda _, **__: None)


def _make_class(
    metaclass: Any, name: str, bases: tuple[Any, ...], members: dict[str, Any], number: str, extra: Any
) -> Any:
    """A class before its attributes are set, made without the program's hooks: they have run at rank 0.

    These are ``__init_subclass__`` of its bases, and its metaclass.
    """
    above = {base for each in bases for base in each.__mro__ if "__init_subclass__" in vars(base)}
    hooks = {base: vars(base)["__init_subclass__"] for base in above if is_of_program(base)}
    for base in hooks:
        type.__setattr__(base, "__init_subclass__", _DERIVES)
    try:
        if not is_of_program(metaclass):
            return _make_skeleton_class(metaclass, name, bases, members, number, extra)
        maker: Any = next(kind for kind in metaclass.__mro__ if not is_of_program(kind))
        return _lookup_class_or_track(number, maker.__new__(metaclass, name, bases, dict(members)))
    finally:
        for base, hook in hooks.items():
            type.__setattr__(base, "__init_subclass__", hook)


#: What an enumeration itself gives to its members.
_OF_MEMBERS = frozenset({"_value_", "_name_", "_sort_order_", "__objclass__"})

#: What members are made of, by the type that they are of beside their enumeration.
_BARE: dict[type, Callable[[Any], Any]] = {
    object: lambda _: None,
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    tuple: lambda member: tuple(tuple.__iter__(member)),
}


def _of_enum(kind: Any, reduced: Any) -> Any:
    """The reduction of an enumeration with its aliases and the attributes of its members.

    cloudpickle keeps the values of members alone, and makes members without what the program's ``__init__``
    and ``__new__`` have given them.
    """
    _, (bases, name, qualname, _, module, number, _), (names, slots), *_ = reduced
    members = kind.__members__
    take = _BARE.get(kind._member_type_)
    bare = None if take is None else {each: take(member) for each, member in members.items()}
    values = {each: member._value_ for each, member in members.items()}
    held = {
        each: {n: v for n, v in vars(member).items() if n not in _OF_MEMBERS}
        for each, member in members.items()
    }
    state = {n: v for n, v in names.items() if n not in members}, slots, held
    arguments = bases, name, qualname, values, module, number, bare
    return _make_enum, arguments, state, None, None, _enum_setstate


def _make_enum(
    bases: tuple[Any, ...],
    name: str,
    qualname: str,
    values: dict[str, Any],
    module: str,
    number: str,
    bare: dict[str, Any] | None,
) -> Any:
    """The enumeration, before its own names are set; its members are made by none of the program's code."""
    if bare is None:
        return _make_skeleton_enum(bases, name, qualname, values, module, number, None)
    metaclass: Any = type(bases[-1])
    names = metaclass.__prepare__(name, bases)
    names["__new__"], names["__init__"] = _new_member, _no_init
    for each, value in values.items():
        names[each] = bare[each], value
    made: Any = metaclass.__new__(metaclass, name, bases, names)
    made.__module__, made.__qualname__ = module, qualname
    return _lookup_class_or_track(number, made)


def _new_member(kind: Any, *arguments: Any) -> Any:
    bare, value = arguments[0] if len(arguments) == 1 else arguments
    base = kind._member_type_
    member = object.__new__(kind) if base is object else base.__new__(kind, bare)
    member._value_ = value
    return member


def _no_init(*_: Any) -> None:
    """Stands for the initializer of an enumeration whose members have what it has given them."""


def _enum_setstate(kind: Any, state: tuple[dict[str, Any], Any, dict[str, dict[str, Any]]]) -> Any:
    names, slots, held = state
    for each in ("__init__", "__new_member__"):
        if each not in names and each in vars(kind):
            type.__delattr__(kind, each)
    _class_setstate(kind, (names, slots))
    for each, attributes in held.items():
        own = vars(kind.__members__[each])
        for gone in own.keys() - _OF_MEMBERS - attributes.keys():
            del own[gone]
        own.update(attributes)
    return kind


def _is_named(kind: type) -> bool:
    """Whether other ranks find a class by its name in a module."""
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "__main__" and getattr(module, kind.__qualname__, None) is kind


def _of_subclass(array: Any) -> tuple[Any, ...] | None:
    """The reduction of an array of a subclass with its attributes, which numpy's own pickling leaves out.

    Masked arrays get a mask where they have none. None where numpy leaves nothing out, or the class has its
    own way of being pickled.
    """
    kind = type(array)
    own = {"__reduce__": np.ndarray.__reduce__, "__setstate__": np.ndarray.__setstate__}
    masked = sys.modules.get("numpy.ma")
    if masked is not None and isinstance(array, masked.MaskedArray):
        own = {name: getattr(masked.MaskedArray, name) for name in own}
    held = {n: v for n, v in vars(array).items() if n != "_mask" or v is masked.nomask}  # type: ignore[union-attr]
    if not held or isinstance(array, np.memmap) or any(getattr(kind, n) is not own[n] for n in own):
        return None
    make, arguments, state = array.__reduce__()
    return make, arguments, (state, held), None, None, _array_setstate


def _array_setstate(array: Any, state: tuple[Any, dict[str, Any]]) -> None:
    array.__setstate__(state[0])
    vars(array).update(state[1])


def _of_memory(view: memoryview) -> tuple[Any, ...]:
    """The reduction of a view of memory, which stays a view of the same object."""
    owner = memoryview(view.obj)
    if _form(view) == _form(owner) and _address(view) == _address(owner):
        return _memory, (view.obj, view.readonly)
    if view.strides is None or not owner.c_contiguous or not (view.c_contiguous or view.ndim == 1):
        raise TypeError("a view of memory that is neither one-dimensional nor contiguous")
    step = 1 if view.c_contiguous else view.strides[0] // view.itemsize
    extent = view.nbytes if step == 1 else (abs(step) * (len(view) - 1) + 1) * view.itemsize
    start = _address(view) - _address(owner) - (extent - view.itemsize if step < 0 else 0)
    part = slice(start, start + extent)
    shape = None if view.ndim == 1 else view.shape
    return _memory, (view.obj, view.readonly, part, view.format, shape, step)


def _form(view: memoryview) -> tuple[Any, ...]:
    return view.format, view.shape, view.strides


def _address(view: memoryview) -> int:
    return int(np.asarray(view).__array_interface__["data"][0])


def _memory(
    owner: Any,
    readonly: bool,
    part: slice | None = None,
    form: Any = None,
    shape: tuple[int, ...] | None = None,
    step: int = 1,
) -> memoryview:
    view = memoryview(owner)
    if part is not None:
        view = view.cast("B")[part]
        if shape is not None:
            view = view.cast(form, shape)
        else:
            view = (view if form == "B" else view.cast(form))[::step]
    return view.toreadonly() if readonly else view


def owner_of(array: Any) -> Any:
    """The array that owns the memory of a view, as far as arrays go."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def is_numeric(array: Any) -> bool:
    """Whether it is an array of numbers, of numpy's own type."""
    return type(array) is np.ndarray and not array.dtype.hasobject


def _references(array: Any) -> int:
    """The references to the array that owns the memory of a view, this function's own among them."""
    owner = owner_of(array)
    return sys.getrefcount(owner)


_UNSHARED = _references(np.empty(2)[1:])


def of_array(array: Any, known: Callable[[Any], Any]) -> tuple[Any, ...] | None:
    """The reduction of an array of numbers; a view stays one where anything else refers to its memory.

    ``known`` returns, for the owner of memory, an array of it that the reader has, or None. Other arrays are
    sent by value, and own their memory again.
    """
    if not is_numeric(array):
        return None
    owner = owner_of(array)
    base = known(owner) if array.base is not None and array.size else None
    if base is None and owner is not array and is_numeric(owner) and _references(array) > _UNSHARED + 1:
        base = owner
    if base is None:
        return _owning, array.__reduce_ex__(PROTOCOL)[:2]
    start = array.ctypes.data - base.ctypes.data
    return _view, (base, start, array.shape, array.strides, array.dtype, array.flags.writeable)


def _owning(make: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return make(*arguments).copy("K")


def _view(
    base: Any, start: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, writeable: bool
) -> Any:
    memory = base if base.flags.c_contiguous else base.T
    if memory.flags.c_contiguous and (writeable is False or base.flags.writeable):
        view = np.ndarray(shape, dtype, memory, start, strides)
        view.flags.writeable = writeable
        return view
    interface = {
        "version": 3,
        "data": (base.ctypes.data + start, not writeable),
        "shape": shape,
        "strides": strides,
        "typestr": f"|V{dtype.itemsize}",
    }
    return np.asarray(_Window(base, interface)).view(dtype)


class _Window:
    """Memory of an array, which lives as long as the view of it."""

    def __init__(self, array: Any, interface: dict[str, Any]) -> None:
        self.array = array
        self.__array_interface__ = interface
