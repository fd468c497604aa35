"""`dlbc annotate` on the samples without their annotations: it finds them again, and nothing illegal."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dlbc.commands.annotate.insert import with_comments
from dlbc.commands.annotate.proposals import ITERATE, FileProposals, find_proposals
from dlbc.parse.find_modules import SearchPath
from dlbc.parse.read_source import read_source
from dlbc.pipeline import check
from tests.samples.test_samples import ARGUMENTS, NAMES, SAMPLES
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import part

#: Of the samples' annotations, at least this part is to be found.
LEAST = 0.9


def bare(name: str, folder: Path) -> tuple[Path, set[int], set[int]]:
    """A sample without annotations, and the lines of the loops that had `parallel` and `iterate`."""
    parallel, routines, kept = set[int](), set[int](), list[str]()
    for line in (SAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines(keepends=True):
        if line.lstrip().startswith("# dlb:"):
            (routines if ITERATE in line else parallel).add(len(kept) + 1)
        else:
            kept.append(line)
    path = folder / f"{name}.py"
    path.write_text("".join(kept), encoding="utf-8")
    return path, parallel, routines


def proposals_of(path: Path) -> FileProposals:
    source, problems = read_source(str(path))
    assert not problems
    found = find_proposals(source, SearchPath())
    assert not found.diagnostics
    return found


def test_the_annotations_of_the_samples_are_found(tmp_path: Path) -> None:
    wanted, found = set[tuple[str, int, str]](), set[tuple[str, int, str]]()
    for name in NAMES:
        path, parallel, routines = bare(name, tmp_path)
        proposals = proposals_of(path).proposals
        wanted |= {(name, line, "parallel") for line in parallel} | {
            (name, line, ITERATE) for line in routines
        }
        found |= {(name, p.line, "parallel") for p in proposals}
        found |= {(name, p.routine, ITERATE) for p in proposals if p.routine}
    assert len(wanted) >= 18
    assert len(wanted & found) >= LEAST * len(wanted), wanted - found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_proposed_passes_the_strict_check(name: str, tmp_path: Path) -> None:
    found = proposals_of(bare(name, tmp_path)[0])
    comments = {p.line: p.text for p in found.proposals} | {
        p.routine: ITERATE for p in found.proposals if p.routine
    }
    assert not check(with_comments(found.source, comments), strict=True)


@pytest.mark.mpi
@pytest.mark.parametrize("name", part(NAMES, 6))
def test_with_all_proposals_a_sample_prints_the_same_on_ranks(name: str, tmp_path: Path) -> None:
    path, _, _ = bare(name, tmp_path)
    sequential = run_sequential([sys.executable, str(path), *ARGUMENTS[name]], cwd=tmp_path)
    found = proposals_of(path)
    comments = {p.line: p.text for p in found.proposals} | {
        p.routine: ITERATE for p in found.proposals if p.routine
    }
    path.write_bytes(with_comments(found.source, comments).data)
    program = transform(path, tmp_path)
    for ranks in (2, 3):
        settings = {"DLB_STRATEGY": "GDDLB"}
        done = run_mpi(ranks, [sys.executable, str(program), *ARGUMENTS[name]], cwd=tmp_path, env=settings)
        assert (done.status, done.stdout) == (sequential.status, sequential.stdout), done.stderr
