"""How commands take a program: read, transformed, its diagnostics shown."""

from __future__ import annotations

import argparse

from dlbc.commands.show import show_diagnostics
from dlbc.parse.read_source import read_source
from dlbc.pipeline import TransformResult, transform
from dlbc.source import Source

__all__ = ["transform_file"]


def transform_file(options: argparse.Namespace) -> tuple[Source, TransformResult, int]:
    """A file, what it becomes, and the status so far; its diagnostics are shown."""
    source, problems = read_source(options.file)
    result = TransformResult(None, tuple(problems)) if problems else transform(source, strict=options.strict)
    return source, result, show_diagnostics(source, result.diagnostics)
