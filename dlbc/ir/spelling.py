"""The nearest right spelling of a word that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["nearest"]


def nearest(word: str, known: Iterable[str]) -> str:
    """``; did you mean X?`` for the known spelling nearest to ``word``, or nothing."""
    names = sorted(set(known))
    for name in names:
        if name.lower() == word.lower():
            return f"; did you mean {name}? (capital and small letters differ)"
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6) or [
        folded[name] for name in difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    ]
    return f"; did you mean {close[0]}?" if close else ""
