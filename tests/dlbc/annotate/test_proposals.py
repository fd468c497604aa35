"""Which loops `dlbc annotate` proposes, how it writes them, and what it says is in the way of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.commands.annotate.insert import with_comments
from dlbc.commands.annotate.profile import LoopTime
from dlbc.commands.annotate.proposals import FileProposals, find_proposals
from dlbc.commands.annotate.show import as_text, assess
from dlbc.commands.annotate.worth import WorthVerdict, size_of, worth_of
from dlbc.commands.explain.obstacles import Obstacle, in_the_way
from dlbc.commands.verdicts import rounded_otherwise
from dlbc.parse.find_modules import SearchPath
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import check
from dlbc.source import Source

REFUSED = Path(__file__).resolve().parents[2] / "cases" / "refuse"


def source_of(text: str | bytes) -> Source:
    source, problems = decode_source("program.py", text if isinstance(text, bytes) else text.encode())
    assert not problems
    return source


def found(text: str | bytes) -> FileProposals:
    return find_proposals(source_of(text), SearchPath())


def proposed(text: str) -> dict[int, str]:
    """The proposed comments by line, `iterate` included."""
    proposals = found(text).proposals
    return {p.line: p.text for p in proposals} | {p.routine: "iterate" for p in proposals if p.routine}


def obstacle(text: str) -> tuple[Obstacle, str]:
    """What is in the way of the only loop."""
    result = found(text)
    assert not result.proposals
    [refused] = result.refused
    why = in_the_way(refused, result.source)
    return why.obstacle, why.sentence


FUNCTION = "def f(A, B, n, m):\n"


def test_the_outermost_loop_of_a_nest_is_proposed() -> None:
    text = FUNCTION + "    for i in range(n):\n        for j in range(m):\n            A[i, j] = B[j, i]\n"
    assert proposed(text) == {2: "parallel, jit"}


def test_the_inner_loop_is_proposed_where_the_outer_one_depends_on_its_order() -> None:
    text = (
        FUNCTION
        + "    for i in range(1, n):\n        for j in range(m):\n            A[i, j] = A[i - 1, j]\n"
    )
    assert {line for line, comment in proposed(text).items() if comment.startswith("parallel")} == {3}


def test_reductions_need_no_clause() -> None:
    text = FUNCTION + "    s = 0.0\n    for i in range(n):\n        s += A[i] * B[i]\n    return s\n"
    assert proposed(text) == {3: "parallel"}


#: What binds `A`, to which iterations store, and `B`, of which they read elements: Python does stores to
#: lists. Where jit does not pay, they read elements of `A` as well.
BOUND = {
    "parallel": [
        ("A = [0.0] * n", "B = C"),
        ("A = list(C)", "B = C"),
    ],
    "parallel, jit": [
        ("A = np.zeros(n)", "B = [0.5] * n"),
        ("A = [0.0] * n", "B = C"),
        ("A = [0.0 for _ in range(n)]", "B = C"),
        ("A = []\n    for k in range(n):\n        A.append(0.0)", "B = C"),
        ("A = list(C)", "B = C"),
        ("A = C.copy()", "B = C"),
        ("A = C.copy()", "B = [1] * n"),
        ("A = C.copy()", "B = list(range(n))"),
        ("A = [0.0] * n\n    A = np.array(A)", "B = C"),
        ("A = [1.0, 2.0] * C", "B = C"),
        ("A = C.copy()", "B = [1] * n\n    for k in range(n):\n        B[k] = C[k]"),
    ],
}


@pytest.mark.parametrize(("comment", "made"), [(c, made) for c, pairs in BOUND.items() for made in pairs])
def test_jit_is_not_proposed_for_lists_that_would_run_as_python(comment: str, made: tuple[str, str]) -> None:
    bound = "".join(f"    {each}\n" for each in made)
    head = f"import numpy as np\n\ndef f(C, n):\n{bound}"
    read = "A" if comment == "parallel" else "B"
    text = f"{head}    for i in range(n):\n        A[i] = 2.0 * {read}[i]\n    return A\n"
    assert proposed(text)[head.count("\n") + 1] == comment


def test_values_whose_last_bits_may_differ_are_named() -> None:
    text = FUNCTION + (
        "    s = u = 0.0\n    t = 0\n    for i in range(n):\n        for j in range(m):\n"
        "            s += A[i, j]\n            t += 1\n            u = max(u, A[i, j])\n    return s, t, u\n"
    )
    [proposal] = found(text).proposals
    assert rounded_otherwise(proposal.report) == ("s",)
    [said] = [line for line in as_text(assess(found(text), 4, {}, None)).splitlines() if "`s`" in line]
    assert "the same on any number of ranks" in said


def test_rows_are_dealt_in_turn_where_blocks_would_leave_ranks_idle() -> None:
    text = FUNCTION + (
        "    for k in range(n - 1):\n        for i in range(k + 1, n):\n"
        "            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]\n"
    )
    assert proposed(text) == {2: "iterate", 3: "parallel, CYCLIC, jit"}


def test_arrays_do_not_stay_on_the_ranks_where_each_pass_looks_at_all_of_them() -> None:
    loop = "        for i in range(n):\n            B[i] = A[i] + 1.0\n"
    text = FUNCTION + f"    while m > B.sum():\n{loop}        A, B = B, A\n"
    assert list(proposed(text).values()) == ["parallel, jit"]


def test_a_loop_with_an_annotation_and_the_loops_inside_and_around_it_are_left_alone() -> None:
    text = FUNCTION + (
        "    for i in range(n):\n        # dlb: parallel\n        for j in range(m):\n"
        "            for k in range(m):\n                A[i, j, k] = B[k]\n"
    )
    result = found(text)
    assert (result.proposals, result.refused) == ((), ())


OBSTACLES = {
    "for i in range(1, n):\n        A[i] = A[i - 1]": Obstacle.NEEDS_EARLIER,
    "for i in range(n):\n        if A[i] > m:\n            break": Obstacle.ENDS_EARLY,
    "for i in range(n):\n        yield A[i]": Obstacle.HANDS_OUT,
    "for i in range(n):\n        A[i] = random()": Obstacle.IN_ORDER,
    "for i in range(n):\n        A.pop()": Obstacle.CHANGES_SHARED,
    "for i in range(n):\n        A[B[i]] = 2 * A[B[i]] + 1": Obstacle.BY_DATA,
    "for i in range(n):\n        A[i] = unseen(i)": Obstacle.UNSEEN,
    "for i in range(n):\n        A[i] = B.look(i)": Obstacle.UNSEEN,
    "for i in range(n):\n        A[i] = B.named(i)": Obstacle.UNSEEN,
    "for i in range(n):\n        A[i] = through(B, i)": Obstacle.UNSEEN,
    "for A[0] in range(n):\n        pass": Obstacle.FORM,
    "if False:\n        for i in range(n):\n            A[i] = i": Obstacle.NOT_RUN,
}

HEAD = """from random import random
from elsewhere import unseen

class C:
    def named(self, i):
        return i

def through(b, i):
    return b.named(i)

"""


@pytest.mark.parametrize(("loop", "expected"), OBSTACLES.items(), ids=OBSTACLES)
def test_what_is_in_the_way(loop: str, expected: Obstacle) -> None:
    kind, sentence = obstacle(f"{HEAD}{FUNCTION}    {loop}\n")
    assert kind is expected
    assert sentence


def test_a_method_of_an_object_that_the_iteration_makes_is_seen() -> None:
    assert proposed(f"{HEAD}{FUNCTION}    for i in range(n):\n        A[i] = C().named(i)\n")


def test_a_part_of_an_array_that_a_function_may_change_is_a_write_to_that_array() -> None:
    """Though the function knows nothing of the attribute that holds the array."""
    kind, sentence = obstacle("""
def solver(A, B):
    def solve(x):
        A[0] += 1
        return A @ x
    return solver(B, A) if sum(A) > 3 else solve

class C:
    def f(self, y):
        for i in range(20):
            row = self.A[i]
            s = solver(row, y)
            y[i] = s(i)
""")
    assert kind is Obstacle.CHANGES_SHARED
    assert "changes `A`" in sentence


def test_nothing_is_proposed_beside_annotations_that_are_wrong() -> None:
    result = found(FUNCTION + "    # dlb: paralel\n    for i in range(n):\n        A[i] = i\n")
    assert [d.code for d in result.diagnostics] == ["DLB102"]
    assert not result.proposals


@pytest.mark.parametrize("path", sorted(REFUSED.glob("*.py")), ids=lambda path: path.stem)
def test_no_refused_loop_is_proposed(path: Path) -> None:
    """Of loops that are annotated by nothing but `parallel`; clauses may be what is wrong."""
    data = path.read_bytes()
    plain = [line.strip() for line in data.splitlines() if b"# dlb:" in line]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    if plain != [b"# dlb: parallel"]:
        return
    errors = {d.code for d in check(source_of(text)) if d.severity.value == "error"}
    line = next(n for n, each in enumerate(text.splitlines(), 1) if each.strip() == "# dlb: parallel")
    bare = "".join(each for each in text.splitlines(keepends=True) if each.strip() != "# dlb: parallel")
    proposals = find_proposals(Source("program.py", bare.encode(), bare), SearchPath()).proposals
    assert not errors or line not in {proposal.line for proposal in proposals}


# What is written

LOOP = "for i in range(3):\n\tA[i] = i\n"


@pytest.mark.parametrize(
    "data",
    [
        b"A = [0] * 3\nfor i in range(3):\n    A[i] = i * 2",
        b"A = [0] * 3\r\nfor i in range(3):\r\n    A[i] = i\r\n",
        b"\xef\xbb\xbfA = [0] * 3\nfor i in range(3): A[i] = i\n",
        b"# coding: latin-1\n# \xe9\nA = [0] * 3\nif A:\n\tfor i in range(3):\n\t\tA[i] = i\n",
        b"A = [0] * 3\n\n# above\nfor i in range(3):  # behind\n    A[i] = i\n\x0c\n",
        b"A = [0] * 3\nfor i in range(3): A[i] = i",
    ],
    ids=[
        "no last line end",
        "carriage returns",
        "byte order mark",
        "latin-1 and tabs",
        "comments",
        "one line",
    ],
)
def test_all_but_the_comments_stays_byte_for_byte(data: bytes) -> None:
    source = source_of(data)
    [proposal] = find_proposals(source, SearchPath()).proposals
    written = with_comments(source, {proposal.line: proposal.text})
    lines = written.data.splitlines(keepends=True)
    comment = lines.pop(proposal.line - 1)
    assert comment.strip() == f"# dlb: {proposal.text}".encode()
    assert b"".join(lines) == data
    again = find_proposals(written, SearchPath())
    assert (again.proposals, again.refused, again.diagnostics) == ((), (), ())


# What it is worth


def test_a_given_size_decides_whether_a_loop_pays() -> None:
    text = FUNCTION + "    for i in range(n):\n        A[i] = B[i] * 2.0\n"
    [proposal] = found(text).proposals
    small, large = (worth_of(proposal.report, 4, {"n": n}, stays=False) for n in (10, 10**6))
    assert (small.verdict, large.verdict) == (WorthVerdict.TOO_SMALL, WorthVerdict.PAYS)
    assert large.gain is not None
    assert 1.0 < large.gain <= 4.0
    assert large.size.iterations == 10**6


def test_without_sizes_the_smallest_that_pays_is_named() -> None:
    text = FUNCTION + "    for i in range(n):\n        for j in range(m):\n            A[i, j] = B[j]\n"
    [proposal] = found(text).proposals
    worth = worth_of(proposal.report, 4, {}, stays=True)
    assert worth.verdict is WorthVerdict.BY_SIZE
    assert set(worth.size.missing) == {"n", "m"}
    assert worth.sizes is not None
    at, below = (
        worth_of(proposal.report, 4, {"n": size, "m": size}, stays=True).verdict
        for size in (worth.sizes, worth.sizes // 2)
    )
    assert (at, below) == (WorthVerdict.PAYS, WorthVerdict.TOO_SMALL)


def test_one_iteration_never_pays_and_a_triangle_does_from_some_size_on() -> None:
    dear = FUNCTION + "    for i in range(n):\n        for j in range(10**7):\n            A[i] = B[j]\n"
    triangle = FUNCTION + "    for i in range(n):\n        for j in range(i):\n            A[i, j] = B[j]\n"
    sizes = [worth_of(found(text).proposals[0].report, 4, {}, stays=True).sizes for text in (dear, triangle)]
    assert sizes[0] == 2
    assert sizes[1] is not None


def test_the_work_of_a_triangle_is_summed() -> None:
    triangle = FUNCTION + "    for i in range(n):\n        for j in range(i):\n            A[i, j] = B[j]\n"
    square = triangle.replace("range(i)", "range(n)")
    sizes = [size_of(found(text).proposals[0].report, {"n": 1000}).seconds for text in (triangle, square)]
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert sizes[0] == pytest.approx(sizes[1] / 2, rel=0.02)


def test_adding_to_a_container_is_work_of_rank_0_and_does_not_pay_by_itself() -> None:
    adding = FUNCTION + "    A = []\n    for i in range(n):\n        A.append(B[i])\n    return A\n"
    computing = adding.replace("B[i]", "sum([B[j] * j for j in range(1000)])")
    verdicts = [
        worth_of(found(text).proposals[0].report, 4, {"n": 10**5}, stays=False).verdict
        for text in (adding, computing)
    ]
    assert verdicts == [WorthVerdict.TOO_SMALL, WorthVerdict.PAYS]


def test_what_inner_loops_contribute_counts_as_often_as_they_turn() -> None:
    adding = (
        FUNCTION + "    A = []\n    for i in range(n):\n        for b in B[i]:\n            A.append(b)\n"
    )
    computing = adding.replace("A.append(b)", "b += b * b / 2 - b * 3 + i * b\n        A.append(i)")
    for text, never in ((adding, True), (computing, False)):
        report = found(text).proposals[0].report
        assert worth_of(report, 4, {}, stays=False).never == never
        time = LoopTime(runs=1, iterations=100, seconds=2.0)
        worth = worth_of(report, 4, {}, time, stays=False)
        assert worth.never == never
        assert (worth.verdict is WorthVerdict.PAYS) == (not never)


LIGHT = FUNCTION + "    s = 0.0\n    for i in range(n):\n        s += B[i]\n    return s\n"
HEAVY = LIGHT.replace("B[i]", "sum([B[j] * j for j in range(1000)])")


@pytest.mark.parametrize(
    ("text", "given", "verdict"),
    [
        (LIGHT, {"n": 10**6}, WorthVerdict.TOO_SMALL),
        (LIGHT, {}, WorthVerdict.TOO_SMALL),
        (HEAVY, {"n": 10**4}, WorthVerdict.PAYS),
        (HEAVY, {}, WorthVerdict.BY_SIZE),
        (
            LIGHT.replace("s += B[i]", "s = max(s, sum([B[j] for j in range(9)]))"),
            {"n": 10**6},
            WorthVerdict.PAYS,
        ),
    ],
)
def test_a_sum_pays_where_iterations_do_more_than_to_add(
    text: str, given: dict[str, int], verdict: WorthVerdict
) -> None:
    [proposal, *_] = found(text).proposals
    worth = worth_of(proposal.report, 4, given, stays=False)
    assert worth.verdict is verdict
    assert worth.never == (verdict is WorthVerdict.TOO_SMALL)


def test_no_number_of_iterations_pays_on_one_rank() -> None:
    [proposal] = found(FUNCTION + "    for i in range(n):\n        A[i] = B[i]\n").proposals
    worth = worth_of(proposal.report, 1, {"n": 10**6}, stays=False)
    assert worth.verdict is WorthVerdict.TOO_SMALL
    assert worth.least_s is None
