"""dlbc: a source-to-source parallelizer for Python."""

from importlib import import_module
from typing import Any

from dlbrt.contract import VERSION as __version__

__all__ = ["__version__", "load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook the cell magic ``%%dlb``: ``%load_ext dlbc`` calls this."""
    # By name, since the package itself imports none of its modules.
    import_module("dlbc.notebook.magic").register(shell)
