"""The global random generators of Python and numpy, one in each module, and their states.

Where each iteration seeds such a generator before it draws, its state belongs to the iteration: after the
loop it is that of the last one, as a temporary would be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

#: The modules that have a global generator.
GENERATORS = ("random", "numpy.random")


def states(generators: Iterable[str] = GENERATORS) -> dict[str, Any]:
    """The state of each generator whose module is loaded, under a name that no variable has."""
    loaded = {name: module for name in generators if (module := sys.modules.get(name)) is not None}
    return {
        key_of(name): module.get_state(legacy=True) if name == "numpy.random" else module.getstate()
        for name, module in loaded.items()
        if hasattr(module, "getstate") or name == "numpy.random"
    }


def restore(generator: str, state: Any) -> None:
    """Set a generator to a state that `states` gave."""
    module = sys.modules[generator]
    module.set_state(state) if generator == "numpy.random" else module.setstate(state)


def key_of(generator: str) -> str:
    """The name under which the state of a generator is kept."""
    return f"the state of {generator}"
