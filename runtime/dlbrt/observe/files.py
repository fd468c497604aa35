"""What is kept from one run to the next: JSON files of ours, by default in the user's cache directory.

A file is whole or absent (`statistics.write`). What is not one of ours is refused with the reason, never
guessed at and never overwritten.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")


class RefusedError(Exception):
    """A file that is not ours, or cannot be read; the message goes on after its name ("which is ..").

    ``ours``: its head says that it is of the format that was expected, so that it may well be removed.
    """

    def __init__(self, message: str, *, ours: bool = False) -> None:
        super().__init__(message)
        self.ours = ours


#: The file in the cache directory that holds measured networks.
NETWORKS = "networks.json"


def cache_directory(environ: Mapping[str, str], windows: bool = os.name == "nt") -> Path | None:
    """``dlb`` in the user's cache directory; None where the user has no directory at all."""
    from pathlib import Path

    place = cache_place(environ, windows)
    return Path(place) if place else None


def cache_place(environ: Mapping[str, str], windows: bool = os.name == "nt") -> str | None:
    """As `cache_directory`, as text."""
    named = environ.get("LOCALAPPDATA" if windows else "XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return os.path.join(named, "dlb")
    home = environ.get("USERPROFILE" if windows else "HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):
        return None
    return os.path.join(home, *(("AppData", "Local") if windows else (".cache",)), "dlb")


def load(place: Path, decode: Callable[[Any], T], nothing: T) -> T:
    """What a file holds, as ``decode`` reads its JSON; ``nothing`` where there is none, or it is empty.

    RefusedError if it is not ours, and where ``decode`` finds a value that it cannot be.
    """
    try:
        if place.exists() and not place.is_file():
            raise RefusedError("which is no regular file")
        content = place.read_text(encoding="utf-8")
        return _read(content, decode) if content.strip() else nothing
    except (FileNotFoundError, NotADirectoryError):
        return nothing
    except OSError as error:
        raise RefusedError(f"which cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise RefusedError("which is no text") from error


def _read(content: str, decode: Callable[[Any], T]) -> T:
    """``decode`` begins with `check_format`: what is wrong after that is so in a file of ours."""
    import json

    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RefusedError("which is no JSON") from error
    try:
        return decode(document)
    except KeyError as error:
        raise RefusedError(f"which is damaged (it lacks {error})", ours=True) from error
    except ValueError as error:
        raise RefusedError(f"which is damaged ({error})", ours=True) from error
    except (TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RefusedError("which is damaged (it has values of another kind)", ours=True) from error


def check_format(document: Any, expected: str, version: int) -> dict[str, Any]:
    """The document, if its head says that it is of this format and version; RefusedError else."""
    if not isinstance(document, dict) or document.get("format") != expected:
        raise RefusedError("which is JSON of something else")
    if (found := document.get("version")) != version:
        raise RefusedError(
            f"which has version {found!r} of its format where version {version} is expected", ours=True
        )
    return document


def text(value: Any) -> str:
    """The value, a text; ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"expected text, found {reprlib.repr(value)}")
    return value


def number(value: Any) -> float:
    """The value, a number; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, found {reprlib.repr(value)}")
    return float(value)
