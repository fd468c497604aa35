"""A stand-in for MPI where none is installed, for one rank alone: ``dlbc run -n 1``."""

from __future__ import annotations

import os
import platform
import sys
import types
from typing import Any, NoReturn, TypeVar

import mpi4py

_T = TypeVar("_T")


class _OneRank:
    """A communicator of one rank, with what the runtime needs where there are no others."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def Dup(self) -> _OneRank:
        return self

    def Split_type(self, *_: object) -> _OneRank:
        return self

    def allgather(self, value: _T) -> list[_T]:
        return [value]

    def bcast(self, value: _T, root: int = 0) -> _T:
        assert root == 0
        return value

    def Free(self) -> None:
        """Do nothing: it holds nothing."""

    def Abort(self, status: int = 1) -> NoReturn:
        os._exit(status)


def stand_in_for_mpi() -> None:
    """Put the stand-in in the place of mpi4py's module MPI if that cannot be imported."""
    try:
        from mpi4py import MPI  # noqa: F401
    except (ImportError, RuntimeError, OSError):
        module: Any = types.ModuleType("mpi4py.MPI")
        module.COMM_WORLD, module.Intracomm = _OneRank(), _OneRank
        module.ANY_SOURCE = module.COMM_TYPE_SHARED = 0
        module.Get_processor_name = platform.node
        module.Finalize = module.COMM_WORLD.Free
        sys.modules["mpi4py.MPI"] = module
        mpi4py.MPI = module
