"""Malformed inputs to the front end: real programs whose tokens, bytes, encodings and annotations are broken.

    python tests/fuzz/malformed_inputs.py [-n COUNT] [--first SEED] [--limit SECONDS] [--show SEED]

gives each input to `transform`, and prints the seeds of those that end in a traceback or an internal error
(DLB008), or take more CPU time than the limit. An input depends on its seed alone, and on the programs of the
corpus; `--show` writes one to standard output.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from dlbc.parse.read_clauses import CLAUSES
from tests.proofs.broken_programs import PROGRAMS, broken

__all__ = ["failures", "malformed"]

_PIECES = (
    *CLAUSES, *("parallel", "iterate", "A", "i", "n", "t", "axis", "group", "order", "any"),
    *("GDDLB", "fit", "cumulative"),
    *("(", ")", ", ", "=", "[", "]", "{", "*", "**", " // ", " % ", "-", "1", "0", "None"),
    *("9**9**9", "1e999", "0x" + "f" * 5000),
    *("'", '"', "lambda: ", " if 1 else ", " for i in i", ":=", "...", "\\", "#", "\t", "\f"),
    *("\xa0", "\u2028", "é", "x.y", "await "),
)  # fmt: skip
_BYTES = (
    b"\0",
    b"\r",
    b"\r\n",
    b"\n",
    b"\f",
    b"\x1a",
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\\\n",
    b"\t",
    b"    ",
    b"'''",
    b"(",
    b")",
)
_STARTS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", *(
    f"# -*- coding: {name} -*-\n".encode()
    for name in (
        *("latin-1", "utf-16", "utf-7", "cp037", "ascii", "shift_jis"),
        *("idna", "punycode", "rot13", "hex", "undefined", "", "é"),
    )
))  # fmt: skip


def malformed(seed: int) -> bytes:
    """The input of this seed."""
    rng = random.Random(seed)
    data = broken(seed).encode("utf-8", "surrogatepass")
    if rng.random() < 0.5:
        data = rng.choice(PROGRAMS).read_bytes()
    for _ in range(rng.randint(0, 3)):
        data = rng.choice(_CHANGES)(data, rng)
    return data


def _byte(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + rng.randrange(2) :]


def _run_of_bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(_BYTES) * rng.choice((1, 1, 2, 100)) + data[at:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    at, size = rng.randrange(len(data) + 1), rng.choice((1, 2, 10, 1000))
    return data[:at] + data[at + size :]


def _moved(data: bytes, rng: random.Random) -> bytes:
    at, to, size = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1), rng.randrange(1, 200)
    return data[:to] + data[at : at + size] + data[to:]


def _spliced(data: bytes, rng: random.Random) -> bytes:
    other = rng.choice(PROGRAMS).read_bytes()
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _encoded(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.6:
        return rng.choice(_STARTS) + data
    return data.decode("utf-8", "replace").encode(
        rng.choice(("utf-16", "utf-8-sig", "latin-1", "utf-32", "utf-7")), "replace"
    )


def _annotated(data: bytes, rng: random.Random) -> bytes:
    """Another annotation in place of one of the program's, or before any line."""
    text = "".join(rng.choice(_PIECES) for _ in range(rng.randint(1, 8)))
    start = rng.choice(("parallel, ", "parallel, cost(", "parallel, jit, ", "iterate, ", ""))
    annotation = f"# dlb: {start}{text}{')' if start.endswith('(') else ''}".encode("utf-8", "replace")
    lines = data.split(b"\n")
    marked = [k for k, line in enumerate(lines) if b"# dlb:" in line]
    at = rng.choice(marked or range(len(lines)))
    blank = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return b"\n".join([*lines[:at], blank + annotation, *lines[at + bool(marked) :]])


def _expression(data: bytes, rng: random.Random) -> bytes:
    """A subscript, argument or list replaced, or made the operand of something."""
    opened = [k for k, byte in enumerate(data) if byte in b"[("]
    if not opened:
        return data
    at = rng.choice(opened) + 1
    return (
        data[:at]
        + "".join(rng.choice(_PIECES) for _ in range(rng.randint(1, 3))).encode("utf-8", "replace")
        + data[at:]
    )


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _byte, _run_of_bytes, _cut, _moved, _spliced, _encoded, _annotated, _annotated, _expression, _expression,
)  # fmt: skip


def failures(first: int, count: int, limit: float = 10.0) -> Iterator[tuple[int, str]]:
    """The seeds of the inputs that break a promise, each with what happened; ``limit``: seconds of CPU time.

    The inputs run in a child process, which a hang ends; the next child goes on behind it.
    """
    seed = first
    while seed < first + count:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            _run(range(seed, first + count), limit, write)
        os.close(write)
        with open(read, encoding="utf-8", newline="\n") as lines:
            for line in lines:
                at, _, what = line.rstrip("\n").partition(" ")
                seed = int(at) + 1
                if what:
                    yield int(at), what
        _, status = os.waitpid(child, 0)
        if status:
            yield (
                seed,
                f"no verdict after {limit:g} s"
                if os.WTERMSIG(status) == signal.SIGPROF
                else f"status {status}",
            )
            seed += 1


def _run(seeds: range, limit: float, output: int) -> None:
    """Write a line for each seed, and end the process."""
    from tests.proofs.test_front_end_fuzz import assert_verdict

    warnings.simplefilter("ignore")
    status = 1
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for seed in seeds:
            data = malformed(seed)
            signal.setitimer(signal.ITIMER_PROF, limit)
            try:
                assert_verdict(data)
                what = ""
            except Exception as error:  # any is a failure
                what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            signal.setitimer(signal.ITIMER_PROF, 0)
            os.write(output, f"{seed} {what}\n".encode("utf-8", "replace"))
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Run the inputs; status 1 if one of them fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=100_000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of CPU time for each")
    parser.add_argument("--show", type=int, help="write the input of this seed")
    options = parser.parse_args()
    if options.show is not None:
        sys.stdout.buffer.write(malformed(options.show))
        return
    found = 0
    for seed, what in failures(options.first, options.n, options.limit):
        found += 1
        print(f"seed {seed}: {what}", flush=True)
    print(f"{options.n} inputs, {found} failures")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
