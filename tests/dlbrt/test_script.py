"""A generated program run in its original's name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def run(home: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (home / "elsewhere").mkdir()
    generated, source = home / "elsewhere" / "made.py", home / "prog.py"
    (home / "beside.py").write_text("value = 7\n")
    source.write_text("# the source\n")
    generated.write_text(text)
    command = [sys.executable, "-m", "dlbrt.script", str(generated), str(source), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=home, check=False)


def test_it_sees_the_originals_name_arguments_and_neighbours(tmp_path: Path) -> None:
    text = (
        "import json, sys, beside\n"
        "print(json.dumps([__name__, __file__, sys.argv, beside.value, sys.modules['__main__'].__file__]))\n"
    )
    done = run(tmp_path, text, "one", "--two")
    source = str(tmp_path / "prog.py")
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["__main__", source, [source, "one", "--two"], 7, source]


def test_the_status_is_the_programs(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys\nsys.exit(5)\n").returncode == 5


def test_an_error_ends_it_with_a_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, "def f():\n    raise KeyError('k')\nf()\n")
    assert done.returncode == 1
    assert "KeyError: 'k'" in done.stderr
