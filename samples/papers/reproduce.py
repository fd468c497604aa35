"""All tables and figures of the five papers: printed there, computed from their formulas, here.

    python samples/papers/reproduce.py [--quick] [--only zaki,swartz,ciegis,clarke,heirich] [--runs] [--kept]
                                       [--no-plots] [--output DIRECTORY]

Writes DIRECTORY/papers.md (docs by default), its plots, and what was found as JSON, one file a paper in
DIRECTORY/papers. With --only the other papers' findings are those kept there, and with --kept all are. Times
and runs on ranks are measured only with --runs: that takes half an hour, on a machine that does nothing else;
without it what was measured last is kept. --quick computes in a minute what does not need the papers' full
sizes, prints it, and writes nothing unless --output is named.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # speeds are those of a core
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # `samples`, in place of this folder

from papers import plots
from papers.catalogue import PAPERS
from papers.findings import Chapter, Extent
from papers.launch import RunError
from papers.markdown import document, text_table

__all__ = ["chapter", "kept", "main"]

DOCS = Path(__file__).resolve().parents[2] / "docs"


def chapter(paper: str, extent: Extent, before: Chapter | None = None) -> Chapter:
    """Compute a paper's chapter; what ranks measured is of the one ``before`` unless ranks are to run."""
    made: Chapter = importlib.import_module(f"papers.{paper}.chapter").chapter(extent, before)
    return made


def kept(folder: Path, paper: str) -> Chapter | None:
    """The findings kept in a folder; None if there are none; ValueError for a file that is none of these."""
    path = folder / f"{paper}.json"
    try:
        return Chapter.of_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    options = _parsed(arguments)
    writes = not options.quick or options.output is not None
    output = options.output or DOCS
    if writes and not options.no_plots and (problem := plots.missing()):
        print(f"reproduce.py: {problem}", file=sys.stderr)
        return 2
    try:
        before = {paper: kept(output / "papers", paper) for paper in PAPERS}
    except ValueError as error:
        print(f"reproduce.py: {error}; remove it, and compute it again", file=sys.stderr)
        return 2
    try:
        found = list(_found(options, before, output / "papers" if writes else None))
    except RunError as error:
        print(f"reproduce.py: {error}", file=sys.stderr)
        return 1
    if writes:
        _write(output, found, not options.no_plots)
    return 0


def _found(
    options: argparse.Namespace, before: Mapping[str, Chapter | None], folder: Path | None
) -> Iterator[Chapter]:
    """The chapters, computed now, and kept in the folder if there is one, or those of before."""
    extent = Extent(options.quick, options.runs)
    for paper in PAPERS:
        known = before[paper]
        if paper in options.only and not options.kept:
            known = chapter(paper, extent, known)
            print(text_table(known), flush=True)
            if folder is not None:
                _keep(folder, known)
        if known is not None:
            yield known


def _keep(folder: Path, made: Chapter) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{made.paper}.json").write_text(made.as_json(), encoding="utf-8")


def _write(output: Path, chapters: Sequence[Chapter], drawn: bool) -> None:
    (output / "papers").mkdir(parents=True, exist_ok=True)
    (output / "papers.md").write_text(document(chapters), encoding="utf-8")
    for made in chapters if drawn else ():
        for plot in made.plots():
            plots.draw(plot, output / "papers" / f"{plot.name}.svg")


def _papers(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if strange := [name for name in names if name not in PAPERS]:
        raise argparse.ArgumentTypeError(f"expected some of {','.join(PAPERS)}, found {strange[0]!r}")
    return names


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="what takes two minutes")
    parser.add_argument("--only", type=_papers, default=PAPERS, metavar="NAMES", help=",".join(PAPERS))
    parser.add_argument("--runs", action="store_true", help="start ranks, too, and measure")
    parser.add_argument("--kept", action="store_true", help="compute nothing: write what was found before")
    parser.add_argument("--no-plots", action="store_true", help="leave the plots as they are")
    parser.add_argument("--output", type=Path, metavar="DIRECTORY", help="in place of docs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
