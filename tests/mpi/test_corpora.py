"""Programs from outside corpora compute on ranks what they compute alone, to the last bit.

A third of them run under one setting, chosen by the name, with every loop annotated that dlbc accepts; with
`pytest --full` all do under several settings, and with each of these loops alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.corpora import Annotation, annotating, annotations, paths
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.settings import RUNS, chosen, some
from tests.support.tier import is_full, part


def accepted(path: Path) -> list[Annotation]:
    return [annotation for annotation in annotations(path) if not annotation.reason]


PROGRAMS = part([path for path in paths() if accepted(path)], 5)


def variants(path: Path) -> list[list[Annotation]]:
    """Which annotations a program runs with."""
    every = accepted(path)
    return [every, *([each] for each in every if is_full() and len(every) > 1)]


@pytest.mark.mpi
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_ported_program_does_on_ranks_what_it_does_alone(path: Path, tmp_path: Path) -> None:
    source = tmp_path / path.name
    alone = run_sequential([sys.executable, str(path)])
    assert alone.status == 0, alone.stderr
    for number, kept in enumerate(variants(path)):
        source.write_text(annotating(path, kept), encoding="utf-8")
        generated = transform(source, tmp_path)
        name = f"{path.stem}{number}"
        for setting in some(name, 8) if is_full() and not number else [chosen(name)]:
            ranks, env = RUNS[setting]
            done = run_mpi(ranks, [sys.executable, str(generated)], env=env)
            assert (done.stdout, done.status) == (alone.stdout, alone.status), (ranks, env, done.stderr)
            assert "takes as unchanged" not in done.stderr
