"""Packages of others, annotated in their modules, on several ranks: docs/others.md.

    python tests/bench/others.py nolds 1 2 3 5     # fetches the package, and runs it on so many ranks
    python tests/bench/others.py                   # all of them

Each is copied beside a program of `tests/bench/programs/others`. Standard output is compared with that of
plain Python, byte for byte. Loops that rank 0 ran alone are named. It needs a registry, so it is no test.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs" / "others"


@dataclass(frozen=True)
class Loop:
    """A line that begins a loop, the ``number``-th such line of its file, and the clauses above it."""

    file: str
    line: str
    clauses: str = "parallel"
    number: int = 0


@dataclass(frozen=True)
class Package:
    """A package, its loops, and what is changed besides: a file, a text in it, and the text for it."""

    requirement: str
    folder: str
    loops: tuple[Loop, ...]
    changes: tuple[tuple[str, str, str], ...] = field(default=())


_INTERVALS = tuple(
    Loop("skfuzzy/intervals/intervalops.py", "for n in range(n1):", number=n) for n in range(4)
)
_ACTIVATED = "self._activate(x)\n        return unravel_index(self._activation_map"
_FOUND = "found = self._activation_distance(x, self._weights)\n        return unravel_index(found"

PACKAGES = {
    "sgp4": Package(
        "sgp4==2.27",
        "sgp4",
        (Loop("sgp4/model.py", "for satrec in self._satrecs:", "parallel, assume_independent"),),
    ),
    "filterpy": Package(
        "filterpy==2.0.0",
        "filterpy",
        tuple(
            Loop("filterpy/kalman/ensemble_kalman_filter.py", "for i in range(N):", number=number)
            for number in range(2)
        ),
    ),
    "nolds": Package(
        "nolds==0.6.3",
        "nolds",
        (
            Loop("nolds/measures.py", "for i in range(len(tVecsM) - 1):"),
            Loop("nolds/measures.py", "for k in range(trajectory_len):"),
            Loop("nolds/measures.py", "for i in range(len(orbit)):", number=1),
            Loop("nolds/measures.py", "for i in range(m):"),
            Loop("nolds/measures.py", "for r in rvals:"),
        ),
        (("nolds/datasets.py", "resources.files(__name__)", "resources.files(__package__)"),),
    ),
    "skfuzzy": Package(
        "scikit-fuzzy==0.5.0",
        "skfuzzy",
        (
            Loop("skfuzzy/fuzzymath/fuzzy_ops.py", "for pp in range(p):"),
            Loop("skfuzzy/fuzzymath/fuzzy_ops.py", "for mm in range(m):", number=1),
            *_INTERVALS,
        ),
    ),
    "minisom": Package(
        "minisom==2.3.6",
        "minisom.py",
        (
            Loop("minisom.py", "for x in range(self._weights.shape[0]):"),
            Loop("minisom.py", "for x in data:"),
            Loop("minisom.py", "for d in data:"),
            Loop("minisom.py", "for i, x in enumerate(data):"),
            Loop("minisom.py", "for x, l in zip(data, labels):"),
        ),
        (
            ("minisom.py", _ACTIVATED, _FOUND),
            ("minisom.py", f"{' ' * 29}self._activation_map.shape)", f"{' ' * 29}found.shape)"),
        ),
    ),
    "salib": Package(
        "salib==1.6.0",
        "SALib",
        (
            Loop("SALib/analyze/pawn.py", "for d_i in range(D):"),
            Loop("SALib/analyze/dgsm.py", "for i in range(num_resamples):"),
            Loop("SALib/analyze/delta.py", "for i, r_i in enumerate(r):"),
        ),
        (("SALib/analyze/delta.py", '"silverman")(Ygrid)', '"silverman").evaluate(Ygrid)'),),
    ),
    "networkx": Package(
        "networkx==3.6.1",
        "networkx",
        tuple(
            Loop("networkx/algorithms/structuralholes.py", "for v in nodes:", number=number)
            for number in range(3)
        ),
    ),
}


def fetch(package: Package, name: str, home: Path) -> None:
    """The package and the program, annotated and changed, in a directory."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(home / "packages")]
    subprocess.run([*command, package.requirement], check=True)
    found = home / "packages" / package.folder
    shutil.copytree(found, home / package.folder) if found.is_dir() else shutil.copy(found, home)
    shutil.rmtree(home / "packages")
    shutil.copy(PROGRAMS / f"{name}.py", home / "main.py")
    for file in dict.fromkeys(loop.file for loop in package.loops):
        lines = (home / file).read_text().split("\n")
        places = [(_place(lines, loop), loop) for loop in package.loops if loop.file == file]
        for place, loop in sorted(places, key=lambda each: -each[0]):
            indent = lines[place][: -len(lines[place].lstrip())]
            lines.insert(place, f"{indent}# dlb: {loop.clauses}")
        (home / file).write_text("\n".join(lines))
    for file, old, new in package.changes:
        text = (home / file).read_text()
        assert old in text, (file, old)
        (home / file).write_text(text.replace(old, new))


def _place(lines: list[str], loop: Loop) -> int:
    return [number for number, line in enumerate(lines) if line.strip() == loop.line][loop.number]


def compare(home: Path, ranks: int, expected: bytes) -> str:
    """What a run on so many ranks gave, in words."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "dlbc", "run", "-n", str(ranks), "--strategy", "none", "main.py"]
    done = subprocess.run(command, cwd=home, capture_output=True, timeout=600)
    seconds = time.perf_counter() - started
    same = "equal" if (done.returncode, done.stdout) == (0, expected) else "DIFFERENT"
    alone = [line for line in done.stderr.decode().splitlines() if "rank 0 alone" in line]
    return "\n".join([f"  {ranks} ranks: {same}, {seconds:.1f} s", *(f"    {line[:200]}" for line in alone)])


def main(words: list[str]) -> None:
    """Run the packages that are named, on the ranks that are."""
    names = [word for word in words if not word.isdigit()]
    if unknown := set(names) - PACKAGES.keys():
        sys.exit(f"expected some of {', '.join(PACKAGES)}, found {', '.join(sorted(unknown))}")
    for name in names or PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            fetch(PACKAGES[name], name, home)
            started = time.perf_counter()
            plain = subprocess.run([sys.executable, "main.py"], cwd=home, stdout=subprocess.PIPE, check=True)
            print(f"{PACKAGES[name].requirement}: plain Python {time.perf_counter() - started:.1f} s")
            for ranks in [int(word) for word in words if word.isdigit()] or [1, 2, 3, 5]:
                print(compare(home, ranks, plain.stdout), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
