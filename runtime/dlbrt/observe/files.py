"""Files kept from one run to the next: JSON, by default in the user's cache directory.

A file is written wholly or not at all (`write`). A file of another format or version is refused
with the reason; it is never guessed at and never overwritten.
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
    """A file of another format, or one that cannot be read; the message continues its name ("which is ..").

    ``ours``: its head says that it has the expected format, so that it may safely be removed.
    """

    def __init__(self, message: str, *, ours: bool = False) -> None:
        super().__init__(message)
        self.ours = ours


#: The name of the file of measured networks in the cache directory.
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
    """What a file holds, as ``decode`` reads its JSON; ``nothing`` if it is empty or does not exist.

    RefusedError if it has another format, or a value that ``decode`` refuses.
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
    """Decode the content; ``decode`` begins with `check_format`, so later errors mean damage."""
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


def write(path: str | os.PathLike[str], document: Mapping[str, object]) -> None:
    """Write a document as JSON, as `write_text` does; ValueError if a number is not finite."""
    import json

    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file whole or not at all, by `dlbrt.whole_files`. OSError if it cannot be written."""
    from dlbrt.whole_files import write_whole

    write_whole(path, text.encode())


def check_format(document: Any, expected: str, version: int) -> dict[str, Any]:
    """The document; RefusedError unless its head has this format and version."""
    if not isinstance(document, dict) or document.get("format") != expected:
        raise RefusedError("which is JSON of something else")
    if (found := document.get("version")) != version:
        raise RefusedError(
            f"which has version {found!r} of its format where version {version} is expected", ours=True
        )
    return document


def text(value: Any) -> str:
    """The value if it is text; ValueError for anything else."""
    if not isinstance(value, str):
        raise ValueError(f"expected text, found {reprlib.repr(value)}")
    return value


def number(value: Any) -> float:
    """The value if it is a number; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, found {reprlib.repr(value)}")
    return float(value)
