"""`dlbc witness`: run a program sequentially, and find two iterations of a parallel loop that conflict.

A layer above the compiler, as everything that runs user code. `rewrite` lets the program tell a `Watch` of
what it touches; `execute` runs it in its own name; `describe` words what was found.
"""

from __future__ import annotations

from dlbc.witness.execute import witness

__all__ = ["witness"]
