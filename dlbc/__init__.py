"""dlbc: a source-to-source parallelizer for Python."""

from dlbrt.contract import VERSION as __version__

__all__ = ["__version__"]
