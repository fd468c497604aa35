"""Runs what `dlbc annotate` proposes in packages: the same bytes sequentially and on 2 and 3 ranks.

    python -m tests.bench.annotate_verify [NAME|DIRECTORY...] [--ranks P,P,...] [--results FILE]

A NAME is that of an installed package with a driver, ``tests/bench/programs/packages/NAME.py``: a program
that calls its functions and prints their results bit by bit; by default all that have one. The package is
copied beside the driver, and every proposal is written into the copy, those too small to pay included.
``--results`` adds to the file of `annotate_packages` what became of each proposal: whether all ranks ran it
(``ran``), and with the same output, or why not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dlbc.commands.annotate.insert import moved, with_comments
from dlbc.commands.annotate.proposals import ITERATE, find_proposals
from dlbc.parse.find_modules import ModuleStore, SearchPath
from dlbc.parse.read_source import read_source
from tests.bench.annotate_packages import files_of

DRIVERS = Path(__file__).parent / "programs" / "packages"
_TIMEOUT_S = 300


def annotated(package: Path, files: list[Path]) -> Iterator[tuple[str, str]]:
    """Write the proposals into the files; for each its place in the package as it is, and as it is then."""
    search = SearchPath(store=ModuleStore())
    for file in files:
        source, problems = read_source(str(file))
        if problems:
            continue
        found = find_proposals(source, search).proposals
        comments = {each.line: each.text for each in found}
        comments |= {each.routine: ITERATE for each in found if each.routine}
        if comments:
            file.write_bytes(with_comments(source, comments).data)
        for each in found:
            yield f"{file.relative_to(package)}:{each.line}", f"{file.name}:{moved(each.line, comments)}"


def verify(word: str, ranks: Sequence[int]) -> tuple[str, dict[str, str]]:
    """The name of a package, and what became of each of its proposals."""
    name, files = files_of(word)
    with tempfile.TemporaryDirectory() as folder:
        origin = next(f for f in files[0].parents if f.name == name)
        copy = Path(folder) / name
        shutil.copytree(origin, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if (libraries := origin.parent / f"{name}.libs").is_dir():
            shutil.copytree(libraries, Path(folder) / libraries.name)
        proposed = dict(annotated(copy, [copy / f.relative_to(origin) for f in files]))
        driver = Path(shutil.copy(DRIVERS / f"{name}.py", Path(folder) / "driver.py"))
        shutil.copy(DRIVERS / "show.py", folder)
        expected = _run([sys.executable, driver.name], folder)
        if not expected.endswith(b"status 0\n"):
            raise RuntimeError(f"the driver of {name} fails by itself")
        fates: dict[str, str] = {}
        for count in ranks:
            output, loops = _on_ranks(count, driver, expected)
            for place, line in proposed.items():
                if fates.get(place, "ran") == "ran":
                    fates[place] = "differs" if output != expected else loops.get(line, "not reached")
    return name, fates


def _on_ranks(ranks: int, driver: Path, expected: bytes) -> tuple[bytes, dict[str, str]]:
    """The output, and what became of each loop that was met."""
    stats = driver.parent / f"stats{ranks}.json"
    command = ["dlbc", "run", "-n", str(ranks), "--strategy", "GDDLB", "--no-summary"]
    output = _run([*command, "--stats", str(stats), driver.name], str(driver.parent))
    if output != expected:
        sys.stderr.write(f"on {ranks} ranks:\n{output.decode()}\nexpected:\n{expected.decode()}\n")
    loops = json.loads(stats.read_text(encoding="utf-8"))["loops"] if stats.exists() else []
    return output, {loop["source"]: _fate(loop) for loop in loops}


def _fate(loop: dict[str, Any]) -> str:
    if sum(rank["iterations"] > 0 for rank in loop["per_rank"]) > 1:
        return "ran"
    return f"rank 0 alone: {loop.get('reason') or 'too few iterations'}"


def _run(command: list[str], folder: str) -> bytes:
    env = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=_TIMEOUT_S, check=False)
    sys.stderr.write(done.stderr.decode(errors="replace"))
    return done.stdout + f"status {done.returncode}\n".encode()


def main() -> int:
    parser = argparse.ArgumentParser(description="runs what `dlbc annotate` proposes in packages")
    parser.add_argument("packages", metavar="NAME|DIRECTORY", nargs="*")
    parser.add_argument("--ranks", metavar="P,P,...", default="2,3")
    parser.add_argument("--results", type=Path, metavar="FILE")
    options = parser.parse_args()
    wrong, ranks = False, [int(each) for each in options.ranks.split(",")]
    for word in options.packages or sorted(path.stem for path in DRIVERS.glob("*.py") if path.stem != "show"):
        name, fates = verify(word, ranks)
        print(name, *(f"  {place}: {fate}" for place, fate in fates.items()), sep="\n", flush=True)
        wrong |= "differs" in fates.values()
        if options.results is not None:
            results = json.loads(options.results.read_text(encoding="utf-8"))
            results[name]["fates"] = fates
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
