"""What `dlbc annotate` finds in packages that others have written: loops, proposals, and what is in the way.

    python tests/bench/annotate_packages.py NAME|DIRECTORY... [--results FILE] [--list] [--page FILE]

A NAME is that of an installed package; nothing is downloaded, and nothing of a package runs. Their tests are
left out. ``--results`` keeps the counts of each package in a file, and adds to those that it has; ``--list``
prints the proposed loops, for a review by hand; ``--page`` writes the table of all kept results between the
marks of a page. Seconds are processor time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dlbc.commands.annotate.proposals import FileProposals, find_proposals
from dlbc.commands.explain.obstacles import Obstacle, in_the_way
from dlbc.parse.find_modules import ModuleStore, SearchPath
from dlbc.parse.find_program import package_files
from dlbc.parse.read_source import read_source

_LEFT_OUT = frozenset({"tests", "test", "testing", "benchmarks", "examples"})
_BEGIN, _END = "<!-- packages -->\n", "<!-- end of packages -->\n"
_FAILURES = frozenset({"DLB005", "DLB008"})


def files_of(word: str) -> tuple[str, list[Path]]:
    """The name of a package and its files, tests left out."""
    folders = [Path(word)] if Path(word).is_dir() else package_files(word)
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return folders[0].name, [f for f in files if _LEFT_OUT.isdisjoint(f.relative_to(folders[0]).parts)]


def survey(word: str, listing: bool) -> dict[str, Any]:
    """The counts of one package."""
    name, files = files_of(word)
    search = SearchPath(store=ModuleStore())
    obstacles: Counter[str] = Counter()
    proposed, failures, slowest_s, slowest, begun = 0, [], 0.0, "", time.process_time()
    for file in files:
        source, problems = read_source(str(file))
        if problems:
            continue
        started = time.process_time()
        found = find_proposals(source, search)
        took_s = (time.process_time() - started) / max(1, len(found.proposals) + len(found.refused))
        if took_s > slowest_s:
            slowest_s, slowest = took_s, file.name
        failures += [f"{file}: {d.message}" for d in found.diagnostics if d.code in _FAILURES]
        obstacles.update(in_the_way(each, source).obstacle.name for each in found.refused)
        proposed += len(found.proposals)
        if listing:
            print(*listed(found), sep="\n", end="\n" if found.proposals else "", flush=True)
    seconds = time.process_time() - begun
    counts = {"files": len(files), "proposed": proposed, "obstacles": dict(obstacles), "failures": failures}
    return {"package": name, **counts, "seconds": seconds, "slowest_loop_s": slowest_s, "slowest": slowest}


def listed(found: FileProposals) -> Iterator[str]:
    """A line for each proposed loop."""
    for each in found.proposals:
        header = found.source.line(each.line).strip()
        around = f" (iterate: {each.routine})" if each.routine else ""
        yield f"{found.source.path}:{each.line}: {header}  # {each.text}{around}"


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The counts of all packages; the numbered columns are the obstacles in their order.

    Of what is proposed `annotate_verify` has found that all ranks ran it, or rank 0 alone; the rest was read.
    """
    checked = ["proposed", "ran", "alone", "read"]
    head = ["package", "loops", *checked, *(str(number) for number in range(1, len(Obstacle) + 1))]
    lines = [_row(head), _row(["---"] * len(head))]
    rows = [
        _counts(name, result) for name, result in sorted(results.items(), key=lambda pair: pair[0].lower())
    ]
    lines += [_row([name, *map(str, counts)]) for name, *counts in rows]
    lines.append(_row(["all", *(str(sum(column)) for column in list(zip(*rows, strict=True))[1:])]))
    return "\n".join(lines)


def _counts(name: str, result: Mapping[str, Any]) -> list[Any]:
    obstacles = [result["obstacles"].get(each.name, 0) for each in Obstacle]
    proposed, fates = result["proposed"], list(result.get("fates", {}).values())
    ran, alone = fates.count("ran"), sum(fate.startswith("rank 0 alone") for fate in fates)
    return [name, proposed + sum(obstacles), proposed, ran, alone, proposed - ran - alone, *obstacles]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description="what `dlbc annotate` finds in packages")
    parser.add_argument("packages", metavar="NAME|DIRECTORY", nargs="*")
    parser.add_argument("--results", type=Path, metavar="FILE")
    parser.add_argument("--list", action="store_true", dest="listing")
    parser.add_argument("--page", type=Path, metavar="FILE")
    options = parser.parse_args()
    kept = options.results is not None and options.results.exists()
    results: dict[str, Any] = json.loads(options.results.read_text(encoding="utf-8")) if kept else {}
    for word in options.packages:
        found = survey(word, options.listing)
        results[found.pop("package")] = found
        if options.results is not None:
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.page is None:
        print(table(results))
    else:
        text = options.page.read_text(encoding="utf-8")
        before, after = text.split(_BEGIN)[0], text.split(_END)[1]
        page = f"{before}{_BEGIN}\n{table(results)}\n{_END}{after}"
        options.page.write_text(page, encoding="utf-8")
    return 1 if any(result["failures"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
