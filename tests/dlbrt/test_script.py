"""A program run by a plan, some of its files generated."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(
    home: Path, text: str, *arguments: str, module: str = "", generated: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    (home / "beside.py").write_text("value = 7\n")
    source = home / "prog.py"
    source.write_text(text)
    files = {}
    for name, other in (generated or {}).items():
        files[str((home / name).resolve())] = str(home / f"{name}.made")
        Path(home / f"{name}.made").write_text(other)
    plan = {"program": str(source), "module": module, "generated": files, "roots": [str(home)], "named": []}
    (home / "plan.json").write_text(
        json.dumps(plan | {"options": [], "parallel": bool(generated), "ranks": 1})
    )
    command = [sys.executable, "-m", "dlbrt.script", str(home / "plan.json"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=home, check=False)


@pytest.mark.parametrize("generated", [False, True], ids=["as it is", "generated"])
def test_it_sees_its_name_arguments_and_neighbours(tmp_path: Path, generated: bool) -> None:
    text = (
        "import json, sys, beside\n"
        "print(json.dumps([__name__, __file__, sys.argv, beside.value, sys.modules['__main__'].__file__]))\n"
    )
    done = run(
        tmp_path,
        text if not generated else "",
        "one",
        "--two",
        generated={"prog.py": text} if generated else {},
    )
    source = str(tmp_path / "prog.py")
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["__main__", source, [source, "one", "--two"], 7, source]


def test_as_a_module_it_has_a_package(tmp_path: Path) -> None:
    package = tmp_path / "app"
    package.mkdir()
    (package / "__init__.py").write_text("")
    text = (
        "import json, sys\nprint(json.dumps([__name__, __package__, __spec__.name, sys.argv, sys.path[0]]))\n"
    )
    (package / "__main__.py").write_text(text)
    plan = {"program": str(package / "__main__.py"), "module": "app.__main__", "generated": {}, "roots": []}
    (tmp_path / "plan.json").write_text(
        json.dumps(plan | {"named": [], "options": [], "parallel": False, "ranks": 1})
    )
    command = [sys.executable, "-m", "dlbrt.script", str(tmp_path / "plan.json"), "x"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.stderr == ""
    arguments = [str(package / "__main__.py"), "x"]
    assert json.loads(done.stdout) == ["__main__", "app", "app.__main__", arguments, str(tmp_path)]


def test_the_status_is_the_programs(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys\nsys.exit(5)\n").returncode == 5


def test_an_error_ends_it_with_a_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, "def f():\n    raise KeyError('k')\nf()\n")
    assert done.returncode == 1
    assert "KeyError: 'k'" in done.stderr


def test_a_module_that_was_imported_before_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "import json\n", generated={json.__file__: "value = 8\n"})
    assert done.returncode == 1
    assert "dlb: json was imported before the program began" in done.stderr


def test_one_rank_needs_no_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # mpi4py's module MPI is what fails to be imported where no library of MPI is installed.
    broken = tmp_path / "site" / "mpi4py"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("__version__ = '4'\n")
    (broken / "MPI.py").write_text("raise RuntimeError('cannot load MPI library')\n")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    source = tmp_path / "prog.py"
    loop = "# dlb: parallel\nfor i in range(9):\n    a[i] = i\n"
    source.write_text(f"import numpy as np\na = np.zeros(9)\n{loop}print(a.sum())\n")
    command = [sys.executable, "-m", "dlbc", "run", "--stats", str(tmp_path / "stats.json"), "-n"]
    alone, two = (
        subprocess.run([*command, ranks, source], capture_output=True, text=True, timeout=60, check=False)
        for ranks in ("1", "2")
    )
    assert (alone.returncode, alone.stdout) == (0, "36.0\n"), alone.stderr
    assert json.loads((tmp_path / "stats.json").read_text())["loops"][0]["iterations"] == 9
    assert two.returncode != 0
    assert "cannot load MPI library" in two.stderr
