"""What the sequential code of a routine touches: statement by statement, as it is emitted."""

from __future__ import annotations

import ast
import re

import pytest

from dlbc.pipeline import check, explain, transform
from dlbc.source import Source

HEAD = "import numpy as np, math, random, itertools, sys, gc\nfrom tqdm import tqdm\n"
FUNCTIONS = """
def norm(a, p=2): return (a ** p).sum()
def scale(a, by): a *= by
def noisy(a): return a, CACHE
CACHE = []
"""


def source_of(text: str) -> Source:
    return Source("case.py", text.encode(), text)


def program(statement: str, before: str = "", parameters: str = "u, v, k, tol, things") -> str:
    """A function with a routine around a parallel loop and the statement."""
    lines = [f"def f({parameters}):", *(f"    {line}" for line in before.split("\n") if line)]
    lines += ["    # dlb: iterate", "    for t in range(9):", "        # dlb: parallel"]
    lines += ["        for i in range(9): u[i] = u[i] + v[i]"]
    lines += [f"        {line}" for line in statement.split("\n")]
    return HEAD + FUNCTIONS + "\n".join(lines) + "\n"


def emitted(statement: str, before: str = "", head: str = "") -> str:
    """The statement as it is emitted, on one line."""
    text = program(statement, before)
    result = transform(source_of(text.replace("def f(", f"{head}def f(")))
    assert result.text is not None, result.diagnostics
    text = result.text.decode()
    [body] = re.findall(r"(?:routine\.run\(_dlb_loop_1.*|_dlb_result\.check\(\))\n((?: {12}.*\n)+)", text)
    return " ; ".join(line[12:] for line in body.rstrip().split("\n"))


@pytest.mark.parametrize(
    "statement",
    [
        "u, v = v, u",
        "w = u",
        "print(u.shape, len(u), u.ndim, u is v, isinstance(u, np.ndarray), id(u))",
        "n, m = u.shape",
        "w = np.zeros_like(u)",
        "del u",
        "return u, t",
        "if t % 3 == 0: continue",
        "pair = [u, v]",
        "print(t, math.pi, f'{t:>{t}}')",
        "for j in range(len(u)): pass",
        "for j, e in enumerate(range(3)): print(j, e)",
        "x = t + 1; print(x * 2)",
        "done = t > 3 and len(v) < 9",
        "history = []; history.append(u); history[0] = v",
        "g = lambda: u[0]",
        "def g(): return u[0]",
        "x = 1.5 if t else 2; print(x)",
    ],
)
def test_what_touches_nothing_stays_as_it_is(statement: str) -> None:
    assert emitted(statement) == statement.replace("\n", " ; ")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("x = u[3]", "x = routine.rows(u)[3]"),
        ("x = u[t // 2, 1:t, ::2, ...]",
         "x = routine.rows(u)[t // 2, 1:t, ::2, ...]"),
        ("x = u[v[0]]", "x = routine.rows(u)[routine.rows(v)[0]]"),
        ("x = things['u'][2]", "x = routine.rows(things)['u'][2]"),
        ("x = u.T[0]", "x = routine.read(u).T[0]"),
        ("x = -u + 1", "x = -routine.read(u) + 1"),
        ("print(u, end='')", "print(routine.read(u), end='')"),
        ("x = np.linalg.norm(u - v)", "x = np.linalg.norm(routine.read(u) - routine.read(v))"),
        ("x = u.sum(axis=0)", "x = routine.read(u).sum(axis=0)"),
        ("x = (u if t else v)[0]", "x = (routine.read(u) if t else routine.read(v))[0]"),
        ("x = [a[0] for a in things]", "x = [routine.rows(a)[0] for a in routine.read(things)]"),
        ("x = any(u[j] > 0 for j in range(3))", "x = any(routine.rows(u)[j] > 0 for j in range(3))"),
        ("x = f'{u[0]=}'", "x = f'u[0]={routine.rows(u)[0]!r}'"),
        ("x = f'{u[0]=:.3f}'", "x = f'u[0]={routine.rows(u)[0]:.3f}'"),
        ("while u[0] < t: pass", "while routine.rows(u)[0] < t: pass"),
        ("a, *b = u", "a, *b = routine.read(u)"),
        ("for a in u: print(a)", "for a in routine.read(u): print(routine.read(a))"),
        ("x = norm(u)", "x = norm(routine.read(u))"),
        ("x = round(u.max(), 2)", "x = round(routine.read(u).max(), 2)"),
        ("x = np.diff(u, n=0)", "x = np.diff(routine.read(u), n=0)"),
        ("assert u[0] > 0, u", "assert routine.rows(u)[0] > 0, routine.read(u)"),
    ],
)  # fmt: skip
def test_what_is_looked_into(statement: str, expected: str) -> None:
    assert emitted(statement) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("u[3] = t", "routine.rows(u)[3] = t"),
        ("u[0], v[1] = v[1], u[0]",
         "routine.rows(u)[0], routine.rows(v)[1] = routine.rows(v)[1], routine.rows(u)[0]"),
        ("u[0] += v[0]", 'routine.rows(u, "rw")[0] += routine.rows(v)[0]'),
        ("u *= 2", "routine.write(u) ; u *= 2"),
        ("x = 1; u *= 2", "x = 1; routine.write(u); u *= 2"),
        ("if t: u *= 2", "if t: routine.write(u); u *= 2"),
        ("np.copyto(u, v)", "np.copyto(routine.write(u), routine.read(v))"),
        ("np.add(u, 1, v)", "np.add(routine.read(u), 1, routine.write(v))"),
        ("np.exp(u, out=v)", "np.exp(routine.read(u), out=routine.write(v))"),
        ("np.add.at(u, [0], 1)", "np.add.at(routine.write(u), [0], 1)"),
        ("random.shuffle(u)", "random.shuffle(routine.write(u))"),
        ("np.random.default_rng(1).random(out=u)", "np.random.default_rng(1).random(out=routine.write(u))"),
        ("np.random.default_rng(1).random(9, float, u)",
         "np.random.default_rng(1).random(9, float, routine.write(u))"),
        ("np.median(u, None, None, True)", "np.median(routine.write(u), None, None, True)"),
        ("np.add.reduce(u, 0, None, v)", "np.add.reduce(routine.read(u), 0, None, routine.write(v))"),
        ("np.nan_to_num(u, copy=False)", "np.nan_to_num(routine.write(u), copy=False)"),
        ("np.asarray(u)[0] = 1", "np.asarray(routine.write(u))[0] = 1"),
        ("u.reshape(-1)[0] = 1", "routine.write(u).reshape(-1)[0] = 1"),
        ("u.T[0] = 1", "routine.write(u).T[0] = 1"),
        ("u.fill(0)", "routine.write(u).fill(0)"),
        ("u.sort()", "routine.write(u).sort()"),
        ("u.shape = (3, 3)", "routine.write(u).shape = (3, 3)"),
        ("u.partition(3)", "routine.write(u).partition(3)"),
        ("u.dot(v, things)", "routine.read(u).dot(routine.read(v), routine.write(things))"),
        ("del things[0]", "del routine.rows(things)[0]"),
        ("for u[0] in range(3): pass", "for routine.rows(u)[0] in range(3): pass"),
        ("scale(u, 2)", "scale(routine.write(u), 2)"),
        ("noisy(u)", "routine.write(noisy)(routine.write(u))"),
        ("things(u)", "routine.write(things)(routine.write(u))"),
        ("things.save(u[0])", "routine.write(things).save(routine.rows(u, \"rw\")[0])"),
        ("x = (lambda: u[0])()", "x = routine.write((lambda: u[0]))()"),
        ("x = sorted(range(3), key=lambda j: u[j])",
         "x = sorted(range(3), key=routine.write(lambda j: u[j]))"),
        ("exec('u[0] = 1')", "routine.write(exec)('u[0] = 1')"),
        ("x = gc.get_objects()", "x = routine.write(gc.get_objects)()"),
        ("x = sys.modules['m'].u[0]", "x = routine.rows(sys.modules)['m'].u[0]"),
        ("x = next(things)", "x = next(routine.write(things))"),
        ("with things: pass", "with routine.write(things): pass"),
    ],
)  # fmt: skip
def test_what_may_be_changed(statement: str, expected: str) -> None:
    assert emitted(statement) == expected


def plain_of(statement: str, before: str = "", parameters: str = "u, v, k, tol, things") -> tuple[str, ...]:
    [plan] = explain(source_of(program(statement, before, parameters))).routines
    return plan.maybe_scalar


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("if u[0] < tol: break", ("tol",)),
        ("if t % k == 0: print(k)", ("k",)),
        ("x = v[k // 2]", ("k",)),
        ("x = v[:k]", ("k",)),
        ("if k == 'fast': pass", ("k",)),
        ("x = v[k]", ()),  # it may be an array of places
        ("if things: pass", ()),  # it may be a list
        ("if t in things: pass", ()),
        ("if k > 0: k = things", ()),
        ("if k > 0: k[0] = 1", ()),
        ("if k > 0: k.run()", ()),
        ("if k > 0:\n    for a in k: pass", ()),
        ("if k > 0: k += 1", ("k",)),
        ("x = k * 2", ()),
    ],
)
def test_names_taken_for_plain(statement: str, names: tuple[str, ...]) -> None:
    assert plain_of(statement) == names


def test_a_name_that_may_have_no_value_is_not_taken_for_plain() -> None:
    assert plain_of("if k > 0: pass", "if v is None: k = 1", "u, v, things") == ()


@pytest.mark.parametrize(
    ("before", "statement", "expected"),
    [
        ("s = 0.0", "s = s + u[0]; print(s)", "s = s + routine.rows(u)[0]; print(s)"),
        ("s = u", "s = s + 1; print(s)", "s = routine.read(s) + 1; print(routine.read(s))"),
        ("s = 0.0", "s = u[0]; print(s)", "s = routine.rows(u)[0]; print(routine.read(s))"),
        ("s = 0.0", "s = u * 2; things.append(s); print(s)",
         "s = routine.read(u) * 2; routine.write(things).append(routine.read(s)); print(routine.read(s))"),
        ("s = 0", "s = u * 2; w = s[1:]; print(s)",
         "s = routine.read(u) * 2; w = routine.rows(s)[1:]; print(routine.read(s))"),
        ("rng = np.random.default_rng(1)",
         "x = rng.random(); rng.shuffle(u); y = rng.choice(things); print(x, y)",
         "x = rng.random(); rng.shuffle(routine.write(u)); y = rng.choice(routine.read(things)); "
         "print(x, routine.read(y))"),
    ],
)  # fmt: skip
def test_a_new_value_is_plain_until_it_is_handed_on(before: str, statement: str, expected: str) -> None:
    assert emitted(statement, before) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for t in range(3):", "for t in range(3):"),
        ("for t in itertools.count():", "for t in itertools.count():"),
        ("for t in tqdm(range(3), desc='x'):", "for t in tqdm(range(3), desc='x'):"),
        ("for a, b in ((u, 1), (v, 2)):", "for a, b in ((u, 1), (v, 2)):"),
        ("for row in u:", "for row in routine.items(u):"),
        ("for row in things(u), v:", "for row in routine.write(things)(routine.write(u)), v:"),
        ("for row in things(u):", "for row in routine.items(routine.write(things)(routine.write(u))):"),
        ("while u[0] < 3:", "while routine.rows(u)[0] < 3:"),
    ],
)
def test_the_header_of_a_routine(header: str, expected: str) -> None:
    text = f"{HEAD}def f(u, v, things):\n    # dlb: iterate\n    {header}\n        # dlb: parallel\n"
    text += "        for i in range(9): u[i] = u[i] + v[i]\n"
    result = transform(source_of(text))
    assert result.text is not None
    lines = [line.strip() for line in result.text.decode().split("\n")]
    assert (
        lines[next(k for k, line in enumerate(lines) if line.startswith("with dlb.iterate")) + 1] == expected
    )


def test_every_place_is_one_of_the_names_in_the_text() -> None:
    text = program("x = u[0] + things(v)[1]; u += x")
    [plan] = explain(source_of(text)).routines
    assert [ast.unparse(wrap.node) for wrap in plan.wraps] == ["u[0]", "things", "v", "u", "x"]
    assert [wrap.anchor for wrap in plan.wraps] == sorted(wrap.anchor for wrap in plan.wraps)


def test_what_is_new_in_another_scope_is_not_new_here() -> None:
    assert emitted("SHARED[t] = 1; print(SHARED)", head="SHARED = np.zeros(9)\nN = 3\n") == (
        "routine.rows(SHARED)[t] = 1; print(routine.read(SHARED))"
    )
    assert emitted("x = SHARED; print(x, N)", head="SHARED = np.zeros(9)\nN = 3\n") == (
        "x = SHARED; print(routine.read(x), N)"
    )


def test_a_finalizer_keeps_everything_at_home() -> None:
    text = program("pass") + "class C:\n    def __del__(self): print(1)\n"
    assert [d.code for d in check(source_of(text))] == ["DLB129"]
    assert not explain(source_of(text)).routines


def test_an_array_named_by_keyword_is_stored_into() -> None:
    assert emitted("np.copyto(dst=u, src=v)").startswith("np.copyto(dst=routine.write(u)")


@pytest.mark.parametrize("body", ["np.random.default_rng(1).shuffle(a)", "np.ndarray.fill(a, t)"])
def test_a_function_that_hands_its_argument_on_may_change_it(body: str) -> None:
    found = emitted("mix(u, t)", head=f"def mix(a, t): {body}\n")
    assert "routine.write(u)" in found


def test_a_function_is_judged_by_what_names_turn_out_to_be() -> None:
    text = """import numpy as np
class Simulation: pass
sim = Simulation()
sim.u = np.zeros(9)
u = sim.u
def look(): return sim.u[2]
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(9):
        u[i] = u[i] + i
    print(sim.u[3], look())
"""
    result = transform(source_of(text))
    assert result.text is not None, result.diagnostics
    assert b"routine.write(look)()" in result.text


@pytest.mark.parametrize(
    ("outer", "space", "clause", "narrows"),
    [
        ("range(n - 1)", "range(k + 1, n)", "BLOCK", True),
        ("range(0, n, 2)", "range(k, len(A))", "BLOCK", True),
        ("range(n - 1)", "range(k + 1, n)", "CYCLIC", True),
        ("range(n - 1, 0, -1)", "range(k + 1, n)", "BLOCK", False),
        ("range(n)", "range(n - k)", "BLOCK", False),
        ("range(n)", "range(k, k + 3)", "BLOCK", False),
        ("range(n)", "range(1, n)", "BLOCK", False),
    ],
)
def test_passes_that_begin_further_on_are_recognized(
    outer: str, space: str, clause: str, narrows: bool
) -> None:
    text = f"def f(A, n):\n    # dlb: iterate\n    for k in {outer}:\n        # dlb: parallel, {clause}(A)\n"
    result = transform(source_of(f"{text}        for j in {space}:\n            A[j] += 1\n"))
    assert result.text is not None, result.diagnostics
    assert ("narrowing=True" in result.text.decode()) == narrows


def foreseen(statement: str, loop: str = "for i in range(9): u[i] = u[i] + v[i]") -> bool:
    """Whether passes with a compiled loop and the statement can be foreseen."""
    text = program(statement, "shift = 0").replace("# dlb: parallel\n", "# dlb: parallel, jit\n")
    text = text.replace("for i in range(9): u[i] = u[i] + v[i]", loop)
    result = transform(source_of(text))
    assert result.text is not None, result.diagnostics
    return b"routine.ahead(" in result.text


@pytest.mark.parametrize(
    "statement",
    [
        "u, v = v, u",
        "w = u",
        "pass",
        "x = t * 2 + 1",
        "shift += 1",
        "k = t % len(u)",
        "row = u[t].copy()",
        "row = u[t % 3 + shift].copy()",
        "for half in range(2): k = half",
        "for half in range(u.shape[0]): row = u[half].copy()",
    ],
)
def test_passes_are_foreseen_where_nothing_between_loops_decides(statement: str) -> None:
    assert foreseen(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "print(t)",
        "t = t + 1",
        "u[0] = 1.0",
        "k = u[0]",
        "x = u.sum()",
        "if u[0] > 1.0: break",
        "if t > 3: u, v = v, u",
        "row = u[t]",
        "row = things[t].copy()",
        "row = u[:3].copy()",
        "u = u.copy()",
        "u = np.zeros(9)",
        "for e in things: k = e",
        "while t < 3: k += 1",
        "k = round(t)",
        "del v",
        "x: float = 1.0",
        "global CACHE\nCACHE = u",
    ],
)
def test_other_passes_are_not_foreseen(statement: str) -> None:
    assert not foreseen(statement)


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(9): k += v[i]",
        "for i in range(9): u[i] = tol = v[i]",
        "for i in things: u[i] = v[i]",
        "for i in range(len(things)): u[i] = v[i]",
    ],
)
def test_passes_are_not_foreseen_whose_loops_leave_or_read_more(loop: str) -> None:
    assert not foreseen("print(k, tol)" if "tol" in loop else "u, v = v, u", loop)


def test_passes_of_a_loop_that_is_not_compiled_are_not_foreseen() -> None:
    result = transform(source_of(program("u, v = v, u")))
    assert result.text is not None
    assert b"routine.ahead(" not in result.text
