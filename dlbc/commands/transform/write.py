"""Write what a person may have written to before: whole or not at all, and never over a person's work."""

from __future__ import annotations

import os
from pathlib import Path

from dlbrt.whole_files import is_special, write_whole

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.emit.seal import is_generated, is_unedited
from dlbc.parse.read_source import WHOLE_FILE


def write_output(output: Path, source: Path, text: bytes, force: bool) -> Diagnostic | None:
    """Write ``text`` to ``output``; a diagnostic, and nothing written, if that must not or cannot be done."""
    try:
        if is_special(output):
            write_whole(output, text)
            return None
        if output.exists() and os.path.samefile(output, source):
            return report("DLB012", WHOLE_FILE)
        old = output.read_bytes() if output.exists() else None
        if old == text:
            return None
        if old is not None and not force and not is_unedited(old):
            return protected(output, old)
        write_whole(output, text, like=source)
    except OSError as error:
        return report("DLB013", WHOLE_FILE, output=output, reason=error.strerror or str(error))
    return None


def protected(output: Path, old: bytes) -> Diagnostic:
    """Why an existing output is left as it is."""
    return report("DLB011" if is_generated(old) else "DLB010", WHOLE_FILE, output=output)


def seen_from(output: Path, source: Path) -> str:
    """The path of a source as its generated file has it: from the folder of that file."""
    return Path(os.path.relpath(source.absolute(), output.absolute().parent)).as_posix()
