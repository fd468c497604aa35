"""C symbols of numpy's inner loops and of libm's functions, by name, for compiled code.

numpy computes exp, sin and others by code of its own, whose last bits are not libm's. A ufunc's inner loop

    void loop(char **arguments, npy_intp *dimensions, npy_intp *steps, void *data)

with one element gives the bits that ``np.exp(x)`` gives. Its address, read from the PyUFuncObject (stable
ABI: numpy/core/include/numpy/ufuncobject.h), is registered with LLVM under a name of ours. Compiled code and
cache files refer to the name alone, so they may be loaded where the address is another.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_DOUBLE = 12  # NPY_DOUBLE


class _UFunc(ctypes.Structure):
    """The head of a PyUFuncObject."""

    _fields_ = (
        ("references", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("arguments", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("loops", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_byte)),
    )


def find_loop(name: str) -> tuple[int, int]:
    """The addresses of the float64 loop of numpy's function and of its data (0: none). May raise LookupError.

    What is read is compared with what Python says of the ufunc, so an object of another shape is not trusted.
    """
    ufunc: Any = getattr(np, name)
    head = _UFunc.from_address(id(ufunc))
    known = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    if known != (head.inputs, head.outputs, head.arguments, head.loops) or head.name != name.encode():
        raise LookupError(name)
    for loop in range(head.loops):
        types = head.types[loop * head.arguments : (loop + 1) * head.arguments]
        if set(types) == {_DOUBLE} and head.functions[loop]:
            return head.functions[loop], head.data[loop] or 0
    raise LookupError(name)
