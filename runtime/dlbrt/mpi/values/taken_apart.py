"""How single objects are taken apart to be pickled: exceptions, caches, views of memory, arrays.

cloudpickle would send them otherwise than they are, or not at all. Each function here returns the reduction
of an object (as ``__reduce__``), or None where nothing is to be done otherwise.
"""

from __future__ import annotations

import pickle
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any, ClassVar, TypeVar

import cloudpickle
import numpy as np

from dlbrt.contract import AHEAD_PREFIX, CHUNK_PREFIX, FITS_PREFIX, KERNEL_PREFIX
from dlbrt.data.set_tables import layouts_of
from dlbrt.mpi.values.caches import CACHED, make_cached
from dlbrt.mpi.values.class_pickles import is_named
from dlbrt.mpi.values.exceptions import of_exception
from dlbrt.mpi.values.generators import reduction_of_global
from dlbrt.mpi.values.nesting import bounded
from dlbrt.mpi.values.set_pickles import Call

PROTOCOL = pickle.HIGHEST_PROTOCOL

_K = TypeVar("_K", bound=Callable[..., None])


def common_reduction(obj: Any) -> tuple[Any, ...] | None:
    """The reduction of what cloudpickle would send otherwise than as it is; TypeError for what cannot be.

    A function of the program under ``lru_cache`` pickles itself by name, but other ranks have no ``__main__``
    to find it in. A view of memory would arrive as bytes, an exception without what caused it, the global
    random generators as copies, an array of a subclass without its attributes. A `cached_property` has a
    lock before Python 3.12.
    """
    if isinstance(obj, BaseException):
        return of_exception(obj)
    if (reduced := reduction_of_global(obj)) is not None:
        return reduced
    if type(obj) is memoryview:
        return _of_memory(obj)
    if type(obj) is cached_property:
        return _cached_property, (obj.func, obj.attrname)
    if isinstance(obj, np.ndarray) and type(obj) is not np.ndarray and (reduced := _of_subclass(obj)):
        return reduced
    if isinstance(obj, set | frozenset) and _is_made_of_items(type(obj)) and layouts_of([obj]) != [None]:
        raise TypeError(f"other ranks would run through a {type(obj).__name__} in another order")
    if isinstance(obj, type) and type(obj).__module__ == "_ctypes" and not is_named(obj):
        raise TypeError(f"{obj.__name__} is a type of ctypes that other ranks do not have")
    if type(obj) is not CACHED or (obj.__module__ != "__main__" and "<locals>" not in obj.__qualname__):
        _refuse_finalizer(obj)
        return None
    return make_cached, (obj.__wrapped__, *obj.cache_parameters().values())


def _cached_property(function: Callable[[Any], Any], name: str | None) -> cached_property[Any]:
    made = cached_property(function)
    made.attrname = name
    return made


def _is_made_of_items(kind: Any) -> bool:
    """Whether objects of a class derived from set are pickled as their elements, of which they are made."""
    own = set if issubclass(kind, set) else frozenset
    return all(
        getattr(kind, n) is getattr(own, n) for n in ("__reduce__", "__reduce_ex__", "__init__", "__new__")
    )


def _of_code(code: CodeType) -> tuple[Any, ...]:
    """The reduction of code with the name of its file, for tracebacks; cloudpickle 3.1.3 leaves it out."""
    made, arguments = cloudpickle.Pickler.dispatch_table[CodeType](code)
    # A copy of the name, as cloudpickle makes of others: whether a text is interned must not show in pickles.
    return made, tuple("".join(code.co_filename) if each == _NO_FILE else each for each in arguments)


#: What cloudpickle writes in place of the name of a file.
_NO_FILE = "<dynamic-code>"


#: How the functions that loops and routines consist of are named.
_OF_LOOPS = (KERNEL_PREFIX, CHUNK_PREFIX, FITS_PREFIX, AHEAD_PREFIX)


def is_of_loop(value: Any) -> bool:
    """Whether it is a function that a loop consists of."""
    return type(value) is FunctionType and value.__name__.startswith(_OF_LOOPS)


def by_value(kernel: _K) -> _K:
    """The kernel, under a name that no module has: so it goes to other ranks by value.

    A rank that imports the kernel's module may find the source there, which has no kernels. Functions that go
    by value, since a decorator hides them, bring the kernels of their loops.
    """
    if kernel.__module__ != "__main__":
        kernel.__qualname__ = f"<loops>.{kernel.__name__}"
    return kernel


class CodePickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle, but code keeps the name of its file, and functions of loops go by value."""

    dispatch_table: ClassVar[Mapping[type, Any]] = ChainMap(
        {CodeType: _of_code}, cloudpickle.Pickler.dispatch_table
    )

    def dump(self, obj: Any) -> None:
        """See `pickle.Pickler`. PicklingError for objects that are nested too deeply."""
        bounded(super().dump, obj)

    def reducer_override(self, obj: Any) -> Any:
        """See `pickle.Pickler`."""
        if type(obj) is Call:
            return obj.reduced
        if is_of_loop(obj):
            by_value(obj)
        return super().reducer_override(obj)


def _refuse_finalizer(obj: Any) -> None:
    """TypeError for a class with a finalizer in Python, and its instances: copies would be finalized too."""
    kind = obj if isinstance(obj, type) else type(obj)
    if isinstance(getattr(kind, "__del__", None), FunctionType):
        raise TypeError(f"the finalizer of {kind.__name__} would run on other ranks")


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


def of_array(array: Any, known: Callable[[Any], tuple[Any, bool] | None]) -> tuple[Any, ...] | None:
    """The reduction of an array of numbers; a view stays one where anything else refers to its memory.

    ``known`` returns, for the owner of memory, an array of it that the reader has, and whether the reader's
    surely has the same strides; or None. Other arrays are sent by value, and own their memory again.
    """
    if not is_numeric(array):
        return None
    owner = owner_of(array)
    found = known(owner) if array.base is not None and array.size else None
    base, alike = found or (None, False)
    if base is None and owner is not array and is_numeric(owner) and _references(array) > _UNSHARED + 1:
        base, alike = owner, owner.flags.forc
    if base is None:
        return _by_value(array)
    if (part := _part_of(array, base)) is not None:
        return _part, (base, *part, array.shape, array.flags.writeable)
    start = array.ctypes.data - base.ctypes.data
    view = base, start, array.shape, array.strides, array.dtype, array.flags.writeable
    return (_view, view) if alike else (_view_or_values, (base.strides, array.copy(), view))


def _part_of(array: Any, base: Any) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]] | None:
    """A view's first element as subscripts of its base, and for each axis that of the base with the step.

    So it does not depend on strides, which differ where the base is itself a view on one rank and a copy on
    another. None where the view is no part of that kind: reshaped, of another type, a diagonal.
    """
    axes = sorted((a for a in range(base.ndim) if base.shape[a] > 1), key=lambda a: -base.strides[a])
    inner = [base.strides[a] * base.shape[a] for a in axes[1:]] + [base.itemsize]
    if array.dtype != base.dtype or any(base.strides[a] < size for a, size in zip(axes, inner, strict=False)):
        return None
    first, rest = [0] * base.ndim, array.ctypes.data - base.ctypes.data
    for axis in axes:
        first[axis], rest = divmod(rest, base.strides[axis])
    steps = []
    for length, stride in zip(array.shape, array.strides, strict=True):
        parts = ((axis, *divmod(stride, base.strides[axis])) for axis in axes if stride)
        fitting = (
            (axis, step)
            for axis, step, odd in parts
            if not odd and (length == 1 or 0 <= first[axis] + step * (length - 1) < base.shape[axis])
        )
        if (found := next(fitting, None)) is None and length > 1 and stride:
            return None
        steps.append(found or (0, 0))
        if found and length > 1:
            axes.remove(found[0])
    within = all(0 <= at < length for at, length in zip(first, base.shape, strict=True))
    return (tuple(first), tuple(steps)) if within and not rest else None


def _part(
    base: Any,
    first: tuple[int, ...],
    steps: tuple[tuple[int, int], ...],
    shape: tuple[int, ...],
    writeable: bool,
) -> Any:
    start = sum(at * stride for at, stride in zip(first, base.strides, strict=True))
    strides = tuple(step and step * base.strides[axis] for axis, step in steps)
    return _view(base, start, shape, strides, base.dtype, writeable and bool(base.flags.writeable))


def _view_or_values(strides: tuple[int, ...], values: Any, view: tuple[Any, ...]) -> Any:
    """The view, if the base has the strides that it had where the view was taken; else its values."""
    base = view[0]
    places = zip(base.shape, base.strides, strides, strict=True)
    return _view(*view) if all(a == b for length, a, b in places if length > 1) else values


def _by_value(array: Any) -> tuple[Any, ...]:
    """The reduction of an array that owns its memory at the reader, its elements as far apart as they are.

    What numpy and BLAS compute depends on that in its last bits. numpy writes memory as it is only where it
    is contiguous and others may read it; else it writes a state.
    """
    axes, packed = [*range(array.ndim)], array
    if not array.flags.c_contiguous:
        axes.sort(key=lambda axis: -abs(array.strides[axis]))
        packed = np.ascontiguousarray(array.transpose(axes)).reshape([array.shape[axis] for axis in axes])
    back = tuple(map(axes.index, range(array.ndim)))
    apart = None if array.flags.forc or array.dtype.hasobject else array.strides
    return _owning, (back, apart, array.flags.writeable, *packed.__reduce_ex__(PROTOCOL)[:3])


def _owning(
    axes: tuple[int, ...],
    strides: tuple[int, ...] | None,
    writeable: bool,
    make: Callable[..., Any],
    arguments: tuple[Any, ...],
    state: tuple[Any, ...] | None = None,
) -> Any:
    array = make(*arguments)
    if state is not None:
        array.__setstate__(state)
    array = array.transpose(axes)
    array = array.copy("K") if strides is None or not array.size else _spread(array, strides)
    array.flags.writeable = writeable
    return array


def _spread(array: Any, strides: tuple[int, ...]) -> Any:
    """A copy with these strides."""
    ends = [(length - 1) * stride for length, stride in zip(array.shape, strides, strict=True)]
    first = -sum(end for end in ends if end < 0)
    memory = np.empty(first + sum(end for end in ends if end > 0) + array.itemsize, np.uint8)
    spread: Any = np.ndarray(array.shape, array.dtype, memory, first, strides)
    spread[...] = array
    return spread


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
