"""Real programs, broken at random: tokens deleted, doubled and swapped, lines shuffled, files cut off."""

from __future__ import annotations

import io
import random
import tokenize
from functools import cache
from itertools import pairwise
from pathlib import Path

__all__ = ["PROGRAMS", "broken"]

_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("samples", "tests/cases/accept", "tests/cases/refuse", "tests/mpi/programs")

#: Programs that are broken; small ones, so that many can be.
PROGRAMS = tuple(
    path
    for folder in (*_FOLDERS, "tests/proofs/programs/kernels/accepted", "tests/proofs/programs/races/racy")
    for path in sorted((_ROOT / folder).glob("*.py"))
    if path.stat().st_size < 6000 and path.stem not in {"latin_1", "nested_too_deeply"}
)

_WORDS = (
    "i", "for", "in", "range", "(", ")", ":", "=", "+=", "[", "]", "*", "lambda", "yield", "await", "None",
    "def",
    "class", "if", ",", ".", "0", "-1", "'", "match", "A", "try:", ":=", "global", "del", "import", "with",
    "async", "// 2", "% 0", "**", "\n", "# dlb: parallel\n",
)  # fmt: skip


@cache
def _pieces(path: Path) -> tuple[str, ...]:
    """The text in tokens and the blanks between them; joined they are the text."""
    text = path.read_text(encoding="utf-8")
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return tuple(text.splitlines(keepends=True))
    cuts = sorted(
        {lines[t.start[0] - 1] + t.start[1] for t in tokens if t.start[0] <= len(lines)} | {0, len(text)}
    )
    return tuple(text[a:b] for a, b in pairwise(cuts))


def broken(seed: int) -> str:
    """The program of this seed, broken in one to four places."""
    rng = random.Random(seed)
    pieces = list(_pieces(rng.choice(PROGRAMS)))
    for _ in range(rng.randint(1, 3)):
        _break(pieces, rng)
    return "".join(pieces)


def _break(pieces: list[str], rng: random.Random) -> None:
    if len(pieces) < 3:
        return
    at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    match rng.randrange(8):
        case 0:
            del pieces[at]
        case 1:
            pieces.insert(at, pieces[at])
        case 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        case 3:
            pieces[at] = pieces[other]
        case 4:
            pieces[at] = rng.choice(_WORDS) + " "
        case 5:
            pieces.insert(at, rng.choice(_WORDS))
        case 6 if rng.random() < 0.3:
            del pieces[at:]
        case _:
            lines = "".join(pieces).splitlines(keepends=True)
            one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[two] = lines[two], lines[one]
            pieces[:] = lines
