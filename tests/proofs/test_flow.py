"""Flow of values between iterations, cross-checked with beniget's def-use chains.

Theory: a read in the body is upward exposed if a definition from before the loop reaches it; a name is live
after the loop if a definition in the body reaches a read behind it; it is not definitely bound if a
definition before the body reaches its end. beniget computes the chains by an analysis of its own. Where it
finds one of these, the compiler's passes must find it too: they may be more careful, never less.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import beniget
import gast
import pytest

from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.ir.region import LoopNames
from dlbc.parse.find_loops import find_loops
from dlbc.passes.classify_variables import classify_scalars
from dlbc.passes.compute_liveness import compute_liveness
from dlbc.passes.resolve_names import resolve_module, resolve_names
from dlbc.source import Source
from tests.proofs.bodies import NAMES, body_of
from tests.support.tier import is_full

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "samples").glob("*.py"))
BODIES = 600 if is_full() else 250
BATCH = 50

Use = tuple[str, int, int]


def loops_of(text: str) -> list[tuple[AnnotatedLoop, LoopNames]]:
    module = Module(Source("case.py", text.encode(), text), ast.parse(text))
    loops, _, _ = find_loops(module)
    module_names = resolve_module(module)
    return [(loop, resolve_names(loop, module_names)) for loop in loops]


def chains_of(text: str) -> list[tuple[Use, list[Use]]]:
    """Every definition of a name with the reads that may see it, by name, line and column."""
    chains = beniget.DefUseChains()
    chains.visit(gast.parse(text))
    return [(_use(d), [_use(u) for u in d.users()]) for d in chains.chains.values() if _named(d)]


def _named(definition: beniget.beniget.Def) -> bool:
    return isinstance(definition.node, gast.Name) and not isinstance(definition.node.ctx, gast.Load)


def _use(definition: beniget.beniget.Def) -> Use:
    node = definition.node
    return (getattr(node, "id", ""), getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def within(use: Use, loop: AnnotatedLoop) -> bool:
    first, last = loop.node.body[0].lineno, loop.node.body[-1].end_lineno
    return first <= use[1] <= (last or first)


def exposed(text: str, loop: AnnotatedLoop, names: LoopNames) -> Iterator[Use]:
    """Reads in the body that a definition from outside it reaches, of names that the body binds."""
    targets = {(n.id, n.lineno, n.col_offset) for n in ast.walk(loop.node.target) if isinstance(n, ast.Name)}
    for definition, users in chains_of(text):
        if definition[0] in names.temporaries and definition not in targets and not within(definition, loop):
            yield from (use for use in users if within(use, loop))


def live_after(text: str, loop: AnnotatedLoop, names: LoopNames) -> set[str]:
    end = loop.node.end_lineno or 0
    return {
        definition[0]
        for definition, users in chains_of(text)
        if within(definition, loop) and definition[0] in names.temporaries and any(u[1] > end for u in users)
    }


def missed(text: str) -> list[str]:
    found = []
    for loop, names in loops_of(text):
        scalars = classify_scalars(loop.node.body, names)
        carried = {(u.name, u.node.lineno, u.node.col_offset) for u in scalars.carried}
        found += [f"{use} is not carried" for use in set(exposed(text, loop, names)) - carried]
        live = live_after(text, loop, names) - compute_liveness(loop, names.temporaries)
        found += [f"{name} is not live" for name in live]
    return found


def program(seed: int) -> str:
    """A function with the body in a loop, all names bound before it and some read after it."""
    body = "\n".join("        " + line for line in body_of(seed))
    binding = "\n".join(f"    {name} = {k}" for k, name in enumerate(NAMES))
    after = f"    {NAMES[seed % 4]} = 5\n    return {', '.join(NAMES[: 2 + seed % 3])}\n"
    return f"def f(xs, n, manager):\n{binding}\n    # dlb: parallel\n    for i in range(n):\n{body}\n{after}"


def straight(seed: int) -> str:
    """The body once, without a loop, all names read behind it."""
    body = "\n".join("    " + line for line in body_of(seed))
    binding = "\n".join(f"    {name} = {k}" for k, name in enumerate(NAMES))
    return f"def f(xs, i, manager):\n{binding}\n{body}\n    return {', '.join(NAMES)}\n"


def unbound(seed: int) -> set[str]:
    """Names of which the definition before the body reaches the return."""
    text = straight(seed)
    last = len(text.splitlines())
    begin = range(2, 2 + len(NAMES))
    chains = chains_of(text)
    return {d[0] for d, users in chains if d[1] in begin and any(u[1] == last for u in users)}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_carries_nothing_that_is_missed(path: Path) -> None:
    assert loops_of(path.read_text())
    assert missed(path.read_text()) == []


@pytest.mark.parametrize("batch", range(BODIES // BATCH))
def test_no_read_of_an_older_value_is_missed(batch: int) -> None:
    wrong = []
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        wrong += [f"{program(seed)}\n{what}\n" for what in missed(program(seed))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("batch", range(BODIES // BATCH))
def test_no_name_is_definite_that_a_path_leaves_unbound(batch: int) -> None:
    wrong = []
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        [(loop, names)] = loops_of(program(seed))
        definite = classify_scalars(loop.node.body, names).definite
        left = sorted(definite & unbound(seed))
        wrong += [f"{program(seed)}\n{name} is not bound on every path\n" for name in left]
    assert not wrong, "\n".join(wrong)


def test_the_bodies_have_what_is_looked_for() -> None:
    texts = [program(seed) for seed in range(BODIES)]
    some = [(text, *loops_of(text)[0]) for text in texts[:100]]
    assert sum(any(exposed(*one)) for one in some) >= 40
    assert sum(bool(live_after(*one)) for one in some) >= 40
    for word in ("for", "while", "with", "lambda", ":=", "break", "continue", "else"):
        assert any(word in "\n".join(body_of(seed)) for seed in range(BODIES)), word
