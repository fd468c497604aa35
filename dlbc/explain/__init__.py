"""`dlbc explain`: what came of every annotated loop, and on what that rests.

`describe` turns a loop's report into sections of short rows; `show` prints them for people, and as JSON for
tools. Nothing is decided here, and no user code runs.
"""

from __future__ import annotations

from dlbc.explain.ranks import RankSpec, read_ranks
from dlbc.explain.show import as_json, as_text

__all__ = ["RankSpec", "as_json", "as_text", "read_ranks"]
