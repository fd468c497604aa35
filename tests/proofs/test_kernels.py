"""Named kernels: the ones that must be refused, with a right witness, and the ones that must be proved.

A file in `programs/kernels/refused` has a dependence that iterations carry, one in
`programs/kernels/accepted` has none; adding a file adds its tests. Both are executed with recording arrays,
so that what they claim is so. A refusal must name two iterations and an element that really meet there; where
the dependence goes through a function, an object, another name of the array or a scalar, any code that names
a place in the loop is right. Accepted programs print what they compute, and print the same on three ranks.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from dlbc.pipeline import transform
from dlbc.source import Source
from tests.proofs.recording import record
from tests.proofs.verdicts import verdict_of, witnesses_of
from tests.support.mpi import run_mpi, run_sequential
from tests.support.tier import pairs, part

KERNELS = Path(__file__).parent / "programs" / "kernels"
REFUSED = sorted((KERNELS / "refused").glob("*.py"))
ACCEPTED = sorted((KERNELS / "accepted").glob("*.py"))

#: Refused by whatever code: what iterations share is no element that the body names.
INDIRECT = {
    "accumulated_and_read",
    "carried_scalar",
    *(path.stem for path in REFUSED if path.stem.startswith("through_")),
}

#: Accepted though iterations meet: what they share is combined, or kept in order.
COMBINING = {"histogram", "ordered_output", "sum_of_products"}

#: Run under more settings than the others.
REPRESENTATIVE = (
    "adjoint_convolution",
    "csr_rows",
    "even_and_odd",
    "floyd_warshall",
    "heat_wide",
    "histogram",
    "lu_rows",
    "ordered_output",
    "red_black",
    "reversal_over_half",
    "tiles",
    "trfd_columns",
)
SETTINGS = {
    "5 ranks": (5, {"DLB_STRATEGY": "none"}),
    "moving": (3, {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "random:max=3,duration=0.002,seed=4"}),
}

refused = pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
accepted = pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)


def test_the_names_in_this_file_are_kernels() -> None:
    assert {path.stem for path in REFUSED} >= INDIRECT
    assert {path.stem for path in ACCEPTED} >= COMBINING | set(REPRESENTATIVE)


@refused
def test_a_refused_kernel_really_has_a_conflict(path: Path) -> None:
    assert any(any(run.conflicts()) for run in record(path.read_text()))


@refused
def test_a_dependent_kernel_is_refused(path: Path) -> None:
    verdict = verdict_of(path.read_text(), path.name)
    assert verdict.errors, str(verdict)
    assert transform(verdict.source).text is None


@refused
def test_a_refusal_names_a_place_in_the_program(path: Path) -> None:
    text = path.read_text()
    first = min(n for n, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("# dlb:"))
    verdict = verdict_of(text, path.name)
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    below = min([first, *(f.lineno for f in functions)])
    assert any(d.place.line >= below for d in verdict.errors), str(verdict)


@pytest.mark.parametrize("path", [p for p in REFUSED if p.stem not in INDIRECT], ids=lambda path: path.stem)
def test_the_witness_of_a_refusal_is_right(path: Path) -> None:
    text = path.read_text()
    verdict = verdict_of(text, path.name)
    witnesses = witnesses_of(verdict.errors)
    assert witnesses, f"no two iterations and element are named:\n{verdict}"
    runs = record(text)
    for w in witnesses:
        met = any(run.meet(w.index, w.first, w.second, w.element) for run in runs)
        assert met, f"{w.index}={w.first} and {w.index}={w.second} do not meet in {w.element}:\n{verdict}"


@pytest.mark.parametrize("path", [p for p in ACCEPTED if p.stem not in COMBINING], ids=lambda path: path.stem)
def test_an_accepted_kernel_really_has_no_conflict(path: Path) -> None:
    assert not [c for run in record(path.read_text()) for c in run.conflicts()]


@accepted
def test_an_independent_kernel_is_proved(path: Path) -> None:
    verdict = verdict_of(path.read_text(), path.name)
    assert verdict.plans
    assert verdict.proved, str(verdict)


def printed_on_ranks(path: Path, ranks: int, env: dict[str, str], out: Path) -> tuple[bytes, bytes]:
    """Standard output of the program as it is, and of its parallel form."""
    text = path.read_text()
    result = transform(Source(path.name, text.encode(), text))
    assert result.text is not None, str(verdict_of(text, path.name))
    generated = out / f"{path.stem}_dlb.py"
    generated.write_bytes(result.text)
    alone = run_sequential([sys.executable, str(path)])
    shared = run_mpi(ranks, [sys.executable, str(generated)], env=env)
    assert (alone.status, shared.status) == (0, 0), shared.stderr
    return alone.stdout, shared.stdout


@pytest.mark.mpi
@pytest.mark.parametrize("path", part(ACCEPTED, 9), ids=lambda path: path.stem)
def test_an_accepted_kernel_prints_the_same_on_three_ranks(path: Path, tmp_path: Path) -> None:
    alone, shared = printed_on_ranks(path, 3, {"DLB_STRATEGY": "none"}, tmp_path)
    assert shared.decode() == alone.decode()


@pytest.mark.mpi
@pytest.mark.parametrize(("name", "setting"), part(pairs(REPRESENTATIVE, SETTINGS), 2))
def test_a_representative_kernel_prints_the_same(name: str, setting: str, tmp_path: Path) -> None:
    ranks, env = SETTINGS[setting]
    alone, shared = printed_on_ranks(KERNELS / "accepted" / f"{name}.py", ranks, env, tmp_path)
    assert shared.decode() == alone.decode()
