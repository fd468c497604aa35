"""`dlbc transform`: write the parallel program, whole or not at all, and never over what a person wrote.

An existing output is overwritten if dlbc wrote it and nobody has edited it since; if it already has the right
content, it is left alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from dlbc.commands.common import add_strict, show_diagnostics, standard_output, transform_file
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.emit.seal import is_generated, is_unedited
from dlbc.parse.read_source import WHOLE_FILE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; - for standard output")
    parser.add_argument("--force", action="store_true", help="overwrite a file that dlbc did not write")
    # Hidden: for modules that a program under `dlbc run` imports by names that it computes.
    parser.add_argument("--imported", action="store_true", help=argparse.SUPPRESS)
    add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""

    source, result, status = transform_file(options)
    if result.text is None:
        return status
    if options.output == "-":
        output = standard_output()
        output.buffer.write(result.text)
        output.buffer.flush()
        return 0
    path = Path(options.file)
    target = Path(options.output) if options.output else path.with_name(f"{path.stem}_dlb.py")
    refusal = write_output(target, path, result.text, options.force)
    return show_diagnostics(source, (refusal,)) if refusal else 0


def write_output(output: Path, source: Path, text: bytes, force: bool) -> Diagnostic | None:
    """Write ``text`` to ``output``; a diagnostic, and nothing written, if that must not or cannot be done."""
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
