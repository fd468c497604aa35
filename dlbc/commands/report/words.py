"""Numbers as words: times with units, parts of a whole, counts."""

from __future__ import annotations


def seconds_text(seconds: float) -> str:
    """A time with its unit: s, ms or us."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def about(seconds: float) -> str:
    """A time to two digits, for sentences."""
    unit, size = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if abs(seconds) >= s), ("us", 1e-6))
    return f"{float(f'{seconds / size:.2g}'):g} {unit}"


def part(share: float) -> str:
    """A part of a whole in percent."""
    return f"{share:.0%}".replace("%", " %")


def times(ratio: float) -> str:
    """A ratio to two digits."""
    return f"{float(f'{ratio:.2g}'):g}"


def count(number: int, what: str) -> str:
    """A number of things."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """A text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
