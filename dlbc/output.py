"""Write a generated file: whole or not at all, and never over what a person wrote.

What stands at the output already is overwritten where dlbc wrote it and nobody edited it since; where it
is what would be written, it is left alone.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.emit.seal import is_generated, is_unedited
from dlbc.parse.read_source import WHOLE_FILE

__all__ = ["write_output"]


def write_output(output: Path, source: Path, text: bytes, force: bool) -> Diagnostic | None:
    """Write ``text`` to ``output``; returns why not, then nothing was written."""
    try:
        if output.exists() and os.path.samefile(output, source):
            return report("DLB012", WHOLE_FILE)
        old = output.read_bytes() if output.exists() else None
        if old == text:
            return None
        if old is not None and not force and not is_unedited(old):
            return report("DLB011" if is_generated(old) else "DLB010", WHOLE_FILE, output=output)
        _replace(output, source, text)
    except OSError as error:
        return report("DLB013", WHOLE_FILE, output=output, reason=error.strerror or str(error))
    return None


def _replace(output: Path, source: Path, text: bytes) -> None:
    """Write beside the output, then rename: a reader sees the old file or the new one."""
    real = Path(os.path.realpath(output))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        model = real if real.exists() else source
        os.chmod(name, os.stat(model).st_mode & 0o777)
        os.replace(name, real)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
