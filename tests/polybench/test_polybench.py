"""The kernels of PolyBench on ranks, with and without `jit`: what plain Python prints, byte for byte.

By default some run, each on a number of ranks that its name gives; with `pytest --full` all do on 1, 2 and 3.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dlbc.commands.verdicts import is_refused
from dlbc.pipeline import explain
from dlbc.source import Source
from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import is_full, part

HERE = Path(__file__).resolve().parent
HARNESS = HERE / "harness.py"
NOT_KERNELS = ("__init__", "harness", Path(__file__).stem)
KERNELS = sorted(path for path in HERE.glob("*.py") if path.stem not in NOT_KERNELS)
#: Kernels whose loops stand in another order than PolyBench's.
REORDERED = [path for path in KERNELS if "def original(" in path.read_text(encoding="utf-8")]
#: Kernels of which some loop is parallel.
PARALLEL = [path for path in KERNELS if path.stem != "seidel_2d"]

RANKS = (1, 2, 3)
JIT = {"jit": ", jit", "python": ""}


def loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A kernel's module, under a name of its own."""
    monkeypatch.syspath_prepend(str(HERE))
    spec = importlib.util.spec_from_file_location(f"polybench_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(path: Path, clause: str, place: Path) -> Path:
    """The program in ``place``, annotated with this clause for `, jit`, beside its module."""
    (place / HARNESS.name).write_bytes(HARNESS.read_bytes())
    copy = place / path.name
    copy.write_text(path.read_text(encoding="utf-8").replace(", jit", clause), encoding="utf-8")
    return copy


def ranks_of(path: Path) -> Sequence[int]:
    """On how many ranks a kernel runs."""
    return RANKS if is_full() else [RANKS[zlib.crc32(path.stem.encode()) % len(RANKS)]]


def arrays(results: np.ndarray | tuple[np.ndarray, ...]) -> list[tuple[tuple[int, ...], bytes]]:
    """Shapes and bytes of what a kernel returns."""
    several = results if isinstance(results, tuple) else (results,)
    return [(array.shape, array.tobytes()) for array in several]


def test_there_are_thirty() -> None:
    assert len(KERNELS) == 30


@pytest.mark.parametrize("path", part(KERNELS, 6), ids=lambda path: path.stem)
def test_every_annotation_is_accepted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    reports = explain(Source(path.name, text.encode(), text)).reports
    assert len(reports) == text.count("# dlb: parallel")
    assert (not reports) == (path not in PARALLEL)
    assert not [report.loop.node.lineno for report in reports if is_refused(report)]


@pytest.mark.parametrize("path", REORDERED, ids=lambda path: path.stem)
def test_another_order_of_loops_than_the_original_gives_its_bits(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = loaded(path, monkeypatch)
    sizes = tuple(size // 2 for size in module.SIZES["MINI"])
    found, expected = (kernel(*module.initial(*sizes)) for kernel in (module.kernel, module.original))
    assert arrays(found) == arrays(expected)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("path", "clause"),
    [*((path, "python") for path in part(PARALLEL, 6)), *((path, "jit") for path in part(PARALLEL, 16))],
    ids=lambda value: value if isinstance(value, str) else value.stem,
)
def test_a_kernel_computes_on_ranks_what_it_does_alone(path: Path, clause: str, tmp_path: Path) -> None:
    alone = run_sequential([sys.executable, str(path)])
    assert alone.status == 0, alone.stderr
    assert alone.stdout, "a digest is printed"
    generated = transform(written(path, JIT[clause], tmp_path), tmp_path)
    for ranks in ranks_of(path):
        done = run_mpi(ranks, [sys.executable, str(generated)], timeout=180)
        assert (done.stdout, done.status) == (alone.stdout, alone.status), (ranks, done.stderr)
        assert "takes as unchanged" not in done.stderr
