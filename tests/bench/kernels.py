"""The chunk functions of the peers' workloads against the same loops by hand, on one core; no test.

    python tests/bench/kernels.py                         # all, at the sizes of tests/bench/peers.py
    python tests/bench/kernels.py --only nbody,jacobi --rounds 9
    python tests/bench/kernels.py --chunks 8              # the rows in eight calls

Each workload's loop is transformed, and every form of its chunk function compiled as in a run. The forms, the
loop as written (`parts.py`) and the one restructured by hand (`by_hand.py`) take turns in one process, each
over all rows, without transfers. The table gives the medians in milliseconds, and their ratio to that of the
loop by hand. `same` tells whether a form has stored the bytes of the loop as written.
"""

from __future__ import annotations

import argparse
import ast
import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import dlbrt.native
from dlbrt.native.compiler import compile_chunk
from dlbrt.native.numerics import new_results

from dlbc.source import Source
from tests.bench.contenders import HERE

sys.path.insert(0, str(HERE))

from by_hand import BY_HAND
from parts import PARTS
from peer import INITIAL, SIZES

Run = Callable[[], object]


def values_of(name: str) -> dict[str, Any]:
    """What the loop's names stand for, at the size of the comparison; only the first step of several."""
    given = INITIAL[name](*SIZES[name][0])
    match name:
        case "mxm":
            Z, X, Y = given
            return {"Z": Z, "X": X, "Y": Y, "n": len(Z), "m": Y.shape[1], "r": X.shape[1]}
        case "ac":
            A, x, B, C = given
            return {"A": A, "x": x, "B": B, "C": C, "n": len(A)}
        case "pairwise":
            D, X = given
            return {"D": D, "X": X, "n": len(X), "dimensions": X.shape[1]}
        case "mandelbrot":
            counts, limit = given
            return {"counts": counts, "limit": limit, "n": len(counts), "m": counts.shape[1]}
        case "heat2d":
            return {"u": given[0], "v": given[1], "n": len(given[0]), "m": given[0].shape[1]}
        case "nbody":
            x, _, mass, force, _ = given
            return {"x": x, "mass": mass, "force": force, "n": len(x)}
        case "jacobi":
            A, b, x, after, _ = given
            return {"A": A, "b": b, "x": b.copy(), "after": after, "n": len(A)}
        case "conv2d":
            out, image, K = given
            return {"out": out, "image": image, "K": K, "m": out.shape[1], "k": len(K), "n": len(out)}
        case "floyd_warshall":
            return {"path": given[0], "row": given[0][3].copy(), "k": 3, "n": len(given[0])}
    raise ValueError(f"{name} has several loops: compare it as a whole")


#: The arrays that a loop stores to, and the arguments of the functions by hand behind the first row.
STORED = {
    "mxm": ("Z", "Z X Y"),
    "ac": ("A", "A x B C"),
    "pairwise": ("D", "D X"),
    "mandelbrot": ("counts", ""),
    "heat2d": ("v", "u v"),
    "nbody": ("force", "force x mass"),
    "jacobi": ("after", "after A b x"),
    "conv2d": ("out", "out image K"),
    "floyd_warshall": ("path", "path k row"),
}


def chunk_functions(name: str, program: str | None = None) -> list[FunctionType]:
    """The chunk functions of the first loop of a workload, that as written last."""
    text = program if program is not None else transformed(name)
    tree = ast.parse(text)
    tree.body = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("_dlb_chunk_1")]
    made: dict[str, Any] = {"dlbrt": dlbrt, "math": math, "np": np, "__name__": name}
    exec(compile(tree, f"{name} as transformed", "exec"), made)
    return [made[n.name] for n in tree.body if isinstance(n, ast.FunctionDef)]


def transformed(name: str) -> str:
    """The generated program of a workload."""
    from dlbc.pipeline import transform

    data = (HERE / f"{name}.py").read_bytes()
    text = transform(Source(f"{name}.py", data, data.decode())).text
    assert text is not None
    return text.decode()


def runs_of(name: str, values: Mapping[str, Any], chunks: int, program: str | None) -> dict[str, Run]:
    """What is compared, by the name of its column."""
    found: dict[str, Run] = {}
    rows = range(1, values["n"] - 1) if name == "heat2d" else range(values["n"])
    forms = chunk_functions(name, program)
    for number, function in enumerate(forms):
        names = function.__code__.co_varnames[4 : function.__code__.co_argcount]
        given = new_results(0, 0), *(values[each] for each in names)
        kernel = compile_chunk(function, (0, 0, 1, *given))
        column = "chunk as written" if number == len(forms) - 1 else f"form {number + 1}"
        found[column] = partial(_run_chunks, kernel, given, _pieces(rows, chunks))
    arguments = [values[each] for each in STORED[name][1].split()]
    if name == "mandelbrot":
        arguments = [values["counts"], values["limit"], values["n"], 1]
    found["as written"] = lambda: PARTS[name](0, *arguments)
    found["by hand"] = lambda: BY_HAND[name](0, *arguments)
    return found


def _run_chunks(kernel: Callable[..., int], given: Sequence[Any], pieces: Sequence[tuple[int, int]]) -> None:
    for first, last in pieces:
        assert kernel(first, last, 1, *given) == last


def _pieces(rows: range, count: int) -> list[tuple[int, int]]:
    ends = [rows.start + len(rows) * k // count for k in range(count + 1)]
    return list(pairwise(ends))


def measured(name: str, rounds: int, chunks: int, program: str | None = None) -> None:
    """Print the line of a workload."""
    values = values_of(name)
    runs = runs_of(name, values, chunks, program)
    stored = values[STORED[name][0]]
    before = stored.copy()
    times: dict[str, list[float]] = {each: [] for each in runs}
    digests: dict[str, bytes] = {}
    order = list(runs.items())
    for number in range(rounds + 1):
        for each, run in order if number % 2 else reversed(order):
            stored[...] = before
            started = time.perf_counter()
            run()
            if number:
                times[each].append(time.perf_counter() - started)
            digests[each] = stored.tobytes()
    by_hand = statistics.median(times["by hand"])
    for each, found in times.items():
        same = "same" if digests[each] == digests["as written"] else "OTHER BYTES"
        median = statistics.median(found)
        print(f"{name:15} {each:17} {1e3 * median:9.2f} ms {median / by_hand:7.3f}  {same}", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Compare the workloads named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(STORED), help="workloads, with commas between them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chunks", type=int, default=1, help="calls of a chunk function for all rows")
    parser.add_argument("--program", type=Path, help="take the chunk functions from this generated program")
    options = parser.parse_args(words)
    program = options.program.read_text() if options.program else None
    for name in options.only.split(","):
        measured(name, options.rounds, options.chunks, program)


if __name__ == "__main__":
    main()
