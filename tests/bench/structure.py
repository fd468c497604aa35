"""The structure of the product in figures: files, lines, rooms, and what a synchronization goes through.

    python tests/bench/structure.py [--root DIR] [--json FILE]

Counts the Python files of `dlbc` and `dlbrt` under DIR (default: this checkout): files, lines, the median
file, rooms (folders) and the fullest of them, and modules that exactly one other module imports. Runs a small
program under GDDLB on 2 ranks and counts the files of the runtime in which a function runs between the
beginning and the end of `synchronize`, on either rank. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[2]

PROGRAM = """
import numpy as np, time

A = np.zeros((400, 8))
# dlb: parallel, BLOCK
for i in range(400):
    end = time.perf_counter() + 0.0005
    while time.perf_counter() < end:
        pass
    A[i, :] = i
print(A.sum())
"""

#: Records, on each rank, the files in which a function runs while `synchronize` does.
RECORDER = """
import json, os, sys
import dlbrt
import dlbrt.mpi.loop as loop

seen = set()
own = [each for each in vars(loop).values() if getattr(each, "__module__", "") == loop.__name__]
context = next(each for each in own if "synchronize" in vars(each))
synchronize = context.synchronize

def recorded(self):
    def look(frame, event, argument):
        if event == "call":
            seen.add(frame.f_code.co_filename)
    sys.setprofile(look)
    try:
        return synchronize(self)
    finally:
        sys.setprofile(None)
        with open(os.path.join(os.environ["SEEN"], str(os.getpid())), "w") as file:
            json.dump(sorted(seen), file)

context.synchronize = recorded
sys.argv = sys.argv[1:]
import runpy
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def modules(root: Path) -> dict[str, Path]:
    """Every module of the product by its full name."""
    found = {}
    for package, base in (("dlbc", root / "dlbc"), ("dlbrt", root / "runtime" / "dlbrt")):
        for path in sorted(base.rglob("*.py")):
            parts = (package, *path.relative_to(base).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def importers(known: dict[str, Path]) -> dict[str, set[str]]:
    """Who imports each module, lazily and for types alone included."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    target = full if full in known else node.module
                    if target in known and target != name:
                        found[target].add(name)
    return found


def synchronization_files(root: Path) -> int:
    """In how many files of the runtime a function runs during the synchronizations of a GDDLB loop."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(root), str(root / "runtime")))}
    env |= {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,3", "XDG_CACHE_HOME": os.devnull}
    with tempfile.TemporaryDirectory() as work:
        base = Path(work)
        (base / "seen").mkdir()
        (base / "program.py").write_text(PROGRAM)
        (base / "recorder.py").write_text(RECORDER)
        run = [sys.executable, "-m", "dlbc", "transform", "program.py"]
        subprocess.run(run, cwd=base, env=env, check=True, stdout=subprocess.DEVNULL)
        run = ["mpiexec", "-n", "2", sys.executable, "recorder.py", "program_dlb.py"]
        env["SEEN"] = str(base / "seen")
        subprocess.run(run, cwd=base, env=env, check=True, timeout=120, stdout=subprocess.DEVNULL)
        seen = {name for path in (base / "seen").iterdir() for name in json.loads(path.read_text())}
    own = str(root / "runtime" / "dlbrt")
    return len({name for name in seen if name.startswith(own)})


def figures(root: Path) -> dict[str, float]:
    """All figures of a checkout."""
    known = modules(root)
    lines = {name: len(path.read_text().splitlines()) for name, path in known.items()}
    rooms: dict[Path, int] = defaultdict(int)
    for path in known.values():
        rooms[path.parent] += 1
    by = importers(known)
    return {
        "files": len(known),
        "lines": sum(lines.values()),
        "median file": median(lines.values()),
        "rooms": len(rooms),
        "files in the fullest room": max(rooms.values()),
        "modules that one other imports": sum(len(by[name]) == 1 for name in known),
        "files of a GDDLB synchronization": synchronization_files(root),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="The structure of the product in figures.")
    parser.add_argument("--root", type=Path, default=HERE)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = figures(options.root.resolve())
    for name, value in found.items():
        print(f"{name:40s} {value:g}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
