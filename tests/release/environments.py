"""The Pythons of this machine, and environments made anew; pip asks its usual index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: The Pythons that the project names in its classifiers, and the next one.
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def _candidates(version: str) -> list[Path]:
    """Where a Python of this version may be: on the path, or installed by pyenv or uv."""
    found = [Path(program)] if (program := shutil.which(f"python{version}")) else []
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        found.insert(0, Path(sys.base_prefix, "bin", "python3"))
    homes = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions"),
             Path.home() / ".local/share/uv/python"]  # fmt: skip
    for home in homes:
        found += sorted(home.glob(f"{version}.*/bin/python3"), reverse=True)
        found += sorted(home.glob(f"cpython-{version}.*/bin/python3"), reverse=True)
    return found


@cache
def python(version: str) -> Path | None:
    """The Python of this version that makes environments; None if there is none here."""
    for program in _candidates(version):
        words = [str(program), "-c", "import ensurepip, venv, sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        except OSError:
            continue
        if done.stdout.strip() == version:
            return program
    return None


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment that nothing of the checkout can reach."""

    home: Path

    @classmethod
    def make(cls, home: Path, program: Path) -> Environment:
        """A new one by this Python."""
        subprocess.run([program, "-m", "venv", home], check=True, capture_output=True, timeout=120)
        return cls(home)

    def install(self, *what: str) -> None:
        """Install with pip; AssertionError with what pip says if it fails."""
        words = ["python", "-m", "pip", "install", "--quiet", "--only-binary=:all:", *what]
        done = self.run(words, self.home, timeout=600)
        assert done.returncode == 0, done.stderr

    def run(
        self, words: Sequence[str], folder: Path, timeout: float = 180, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in a folder."""
        left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment["PATH"] = f"{self.home / 'bin'}{os.pathsep}{environment['PATH']}"
        environment["XDG_CACHE_HOME"] = str(self.home / "cache")
        program = shutil.which(words[0], path=environment["PATH"])
        assert program is not None, words[0]
        return subprocess.run(
            [program, *words[1:]], cwd=folder, env=environment | settings, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout, check=False,
        )  # fmt: skip
