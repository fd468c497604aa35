"""Work that makes many objects which stay alive, without garbage collection of cycles.

Each collection would go through all that has been made so far, and find nothing to free.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without garbage collection of cycles, which goes on afterwards if it was on before."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
