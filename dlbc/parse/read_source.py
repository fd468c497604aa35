"""Bytes to text: the encoding is the one Python itself would use (PEP 263 cookie, byte order mark).

A file that cannot be read, or whose bytes are not text, yields a diagnostic that ends the command with
status 2; its `Source` then holds what could be read, so that the diagnostic can show the place.
"""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.source import Source, SourcePlace

__all__ = ["WHOLE_FILE", "decode_source", "read_source"]

#: The place of a diagnostic that speaks of the file and of no line in it.
WHOLE_FILE = SourcePlace(0, 0, 0, 0)


def read_source(path: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The file at ``path``; the diagnostics are empty where it is readable text."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        return Source(path, b"", ""), (report("DLB001", WHOLE_FILE, reason=error.strerror or str(error)),)
    return decode_source(path, data)


def decode_source(path: str, data: bytes) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The text of ``data``, decoded as Python decodes a source file."""
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        return _undetected(path, data, error)
    try:
        source = Source(path, data, data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        return _undecodable(path, data, encoding, error.start)
    except (UnicodeError, LookupError):
        return _unusable(path, data, encoding)
    if "\0" in source.text:
        before = source.text[: source.text.index("\0")]
        return source, (report("DLB002", _place_after(before), what="a null character"),)
    return source, _check_round_trip(source)


def _check_round_trip(source: Source) -> tuple[Diagnostic, ...]:
    try:
        same = source.text.encode(source.encoding) == source.data
    except UnicodeError:
        same = False
    return () if same else (report("DLB003", WHOLE_FILE, encoding=source.encoding),)


def _undetected(path: str, data: bytes, error: SyntaxError) -> tuple[Source, tuple[Diagnostic, ...]]:
    reason = str(error.msg)
    if reason.startswith("unknown encoding"):
        return _unusable(path, data, reason.rpartition(": ")[2])
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as invalid:
        return _undecodable(path, data, "utf-8", invalid.start)
    return _unusable(path, data, "one that disagrees with the file's byte order mark")


def _undecodable(path: str, data: bytes, encoding: str, start: int) -> tuple[Source, tuple[Diagnostic, ...]]:
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    source = Source(path, data, data.decode(codec, errors="replace"), encoding)
    place = _place_after(data[:start].decode(codec, errors="replace"))
    what = f"the byte 0x{data[start]:02x}, which is not {encoding}"
    return source, (report("DLB002", place, what=what),)


def _unusable(path: str, data: bytes, encoding: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    return Source(path, data, ""), (report("DLB003", WHOLE_FILE, encoding=encoding),)


def _place_after(before: str) -> SourcePlace:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    column = len(lines[-1]) + 1
    return SourcePlace(len(lines), column, len(lines), column + 1)
