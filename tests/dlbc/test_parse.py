"""From bytes to annotated loops: encodings, comments and the loops they bind to, clauses and their places."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from dlbrt.contract import Distribution, nearest

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.annotation import Annotation, CostForm, IterateClause
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.parse.argument_list import ArgumentList, ClauseReader, parse_arguments
from dlbc.parse.comments import BoundComment, DlbComment
from dlbc.parse.find_loops import find_loops
from dlbc.parse.find_modules import SearchPath
from dlbc.parse.find_program import imported_files
from dlbc.parse.read_clauses import read_annotation
from dlbc.parse.read_source import decode_source, parse_module, read_source
from dlbc.pipeline import transform
from dlbc.source import Source, SourcePlace


def found_in(text: str) -> tuple[tuple[AnnotatedLoop, ...], object, tuple[Diagnostic, ...]]:
    module = parse_module(Source("case.py", text.encode(), text))
    assert isinstance(module, Module)
    loops, routines, problems = find_loops(module)
    return loops, routines, tuple(problems)


def loops_of(text: str) -> tuple[AnnotatedLoop, ...]:
    loops, _, problems = found_in(text)
    assert [p for p in problems if p.severity.value == "error"] == []
    return loops


def annotation_of(clauses: str) -> Annotation:
    [loop] = loops_of(f"# dlb: parallel, {clauses}\nfor i in A:\n    A[i] = B[i] = self.C[i] = t\n")
    return loop.annotation


def iterate_of(clauses: str) -> IterateClause | None:
    text = "# dlb:" + clauses
    comment = DlbComment(SourcePlace(1, 1, 1, len(text) + 1), clauses, True, None)
    arguments = parse_arguments(BoundComment((comment,), ast.While(ast.Constant(1), [])), "case.py")
    assert isinstance(arguments, ArgumentList)
    reader = ClauseReader(arguments)
    annotation = read_annotation(reader, comment.place)
    assert annotation is not None
    assert not reader.problems
    return annotation.iterate


@pytest.mark.parametrize("name", [f"{'.' * 40}x", "a" * 300, "sub." + "b" * 300])
def test_modules_that_cannot_be_there_are_not_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    text = f"try:\n    from {name} import y\nexcept (ImportError, OSError):\n    y = 1\n"
    source = Source(str(tmp_path / "main.py"), text.encode(), text)
    assert list(imported_files(source, SearchPath())) == []


@pytest.mark.parametrize(
    ("data", "code", "place"),
    [
        (b"x = 1\ny = '\xff'\n", "DLB002", (2, 6)),
        (b"x = '\0'\n", "DLB002", (1, 6)),
        (b"# coding: klingon\n", "DLB003", (0, 0)),
        (b"# coding: hex\n61\n", "DLB003", (0, 0)),
        (b"\xef\xbb\xbf# coding: latin-1\n", "DLB003", (0, 0)),
    ],
)
def test_not_text(data: bytes, code: str, place: tuple[int, int]) -> None:
    _, [problem] = decode_source("case.py", data)
    assert (problem.code, (problem.place.line, problem.place.column)) == (code, place)


def test_missing_file() -> None:
    _, [problem] = read_source("/nowhere/at/all.py")
    assert problem.code == "DLB001"


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = '\xc3\xa9'\n", "x = 'é'\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8-sig"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n", "iso-8859-1"),
        (b"", "", "utf-8"),
    ],
)
def test_text(data: bytes, text: str, encoding: str) -> None:
    source, problems = decode_source("case.py", data)
    assert (source.text, source.encoding, problems) == (text, encoding, ())


@pytest.mark.parametrize(
    "text",
    [
        "# dlb: parallel\nfor i in r:\n    pass\n",
        "for i in r:  # dlb: parallel\n    pass\n",
        "for i in r: pass  # dlb: parallel\n",
        "for i in range(\n    3\n):  # dlb: parallel\n    pass\n",
        "for i in range(  # dlb: parallel\n    3\n):\n    pass\n",
        "# dlb: parallel\n# another\n\n# one more\nfor i in r:\n    pass\n",
        "def f():\n    x = 1\n    # dlb: parallel\n    for i in r:\n        pass\n",
        "for k in r:\n    pass\nelse:\n    # dlb: parallel\n    for i in r:\n        pass\n",
        "if x:\n    y = 1\n# dlb: parallel\nfor i in r:\n    pass\n",
        "x = '''\n# dlb: nothing\n'''\n# dlb: parallel\nfor i in r:\n    pass\n",
        "\f# dlb: parallel\nfor i in r:\n    pass\n".replace("\f", "\f\n"),
        "# dlb: parallel\r\nfor i in r:\r\n\tpass\r\n",
        "# dlb:\n# dlb:   parallel\nfor i in r:\n    pass\n",
        "# dlb: parallel # and a remark\nfor i in r:\n    pass\n",
    ],
)
def test_the_comment_binds(text: str) -> None:
    [loop] = loops_of(text)
    assert ast.unparse(loop.node.target) == "i"


def test_a_line_of_another_indentation_is_no_part_of_the_annotation() -> None:
    loops, _, problems = found_in("# dlb: parallel\n  # dlb: CYCLIC\nfor i in r:\n    A[i] = i\n")
    assert [loop.annotation.distributions for loop in loops] == [()]
    assert [(p.code, p.place.line, p.place.column) for p in problems] == [("DLB104", 2, 3)]


def test_ordinals_count_every_for_statement() -> None:
    text = """
for a in r:
    pass
x = [b for b in r]
async def f():
    async for c in r:
        # dlb: parallel
        for d in r:
            pass
# dlb: parallel
for e in r:
    pass
"""
    assert [(loop.ordinal, loop.number, type(loop.scope).__name__) for loop in loops_of(text)] == [
        (2, 1, "AsyncFunctionDef"),
        (3, 2, "Module"),
    ]


def test_path_leads_from_the_module_to_the_loop() -> None:
    [loop] = loops_of(
        "class C:\n    def f(self):\n        if 1:\n"
        "            # dlb: parallel\n            for i in r: pass\n"
    )
    assert [type(node).__name__ for node in loop.path] == ["Module", "ClassDef", "FunctionDef", "If"]
    assert isinstance(loop.scope, ast.FunctionDef)


def test_the_inner_of_two_parallel_loops_is_not_planned() -> None:
    loops = loops_of("# dlb: parallel\nfor i in r:\n    # dlb: parallel\n    for j in r:\n        pass\n")
    assert [loop.node.lineno for loop in loops] == [2]


def test_distributions() -> None:
    clauses = annotation_of("BLOCK, CYCLIC(A, self.C, axis=1), WHOLE(B)").distributions
    assert [(c.distribution, c.arrays, c.axis) for c in clauses] == [
        (Distribution.BLOCK, (), None),
        (Distribution.CYCLIC, ("A", "self.C"), 1),
        (Distribution.WHOLE, ("B",), None),
    ]


def test_other_clauses() -> None:
    found = annotation_of(
        "reduction(B, order=any), private(t), schedule(GDDLB, group=4), cost(cumulative=i**2), "
        "profile(group=3, threshold=0.5), nofold, jit, assume_independent"
    )
    assert [(c.names, c.any_order) for c in found.reductions] == [(("B",), True)]
    assert [c.names for c in found.private] == [("t",)]
    assert found.schedule is not None
    assert (found.schedule.strategy, found.schedule.group) == ("GDDLB", 4)
    assert found.cost is not None
    assert (found.cost.expression, found.cost.form) == ("i ** 2", CostForm.CUMULATIVE)
    assert found.profile is not None
    assert (found.profile.group, found.profile.every, found.profile.threshold) == (3, 10, 0.5)
    assert (bool(found.fold), bool(found.nofold), bool(found.jit)) == (False, True, True)
    assert found.assume_independent


def test_iterate() -> None:
    assert iterate_of("iterate") == IterateClause("piecewise", 0.05, 1)
    assert iterate_of("iterate, every=3, model=akima, tolerance=1") == IterateClause("akima", 1.0, 3)
    assert iterate_of("iterate, checkpoint=5, every=2") == IterateClause("piecewise", 0.05, 2, 5)


def test_places_in_an_annotation_of_several_lines() -> None:
    comment = "    # dlb: parallel,\n    # dlb:    BLOCK(A),\n    # dlb: private(é)\n"
    text = f"if 1:\n{comment}    for i in A:\n        A[i] = é = 1\n"
    [loop] = loops_of(text)
    assert loop.annotation.distributions[0].place == SourcePlace(3, 15, 3, 23)
    assert loop.annotation.private[0].place == SourcePlace(4, 12, 4, 22)


@pytest.mark.parametrize("clause", ["reduce(+: s)", "reduction(max:s)", "reduction( && : s)", "redux(*:s)"])
def test_a_reduction_with_its_operator_is_told_that_it_takes_names_alone(clause: str) -> None:
    _, _, (problem,) = found_in(f"# dlb: parallel, {clause}\nfor i in A:\n    s += A[i]\n")
    assert problem.code == "DLB101"
    assert "`reduction(s)` takes names alone" in problem.message


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("Block", "; did you mean BLOCK? (capital"),
        ("BLOK", "; did you mean BLOCK?"),
        ("blok", "; did you mean BLOCK?"),
        ("xyz", ""),
    ],
)
def test_nearest(word: str, hint: str) -> None:
    assert nearest(word, ("BLOCK", "CYCLIC")).startswith(hint)
    assert bool(nearest(word, ("BLOCK", "CYCLIC"))) == bool(hint)


@pytest.mark.parametrize(
    ("clauses", "said"),
    [
        (
            "iterate, model=akmia",
            "model: expected one of piecewise, akima, constant, found akmia; did you mean akima?",
        ),
        (
            "parallel, BLOCK(A, axes=1)",
            "BLOCK: expected no argument but axis=, found axes=; did you mean axis?",
        ),
    ],
)
def test_the_nearest_comes_after_what_was_found(clauses: str, said: str) -> None:
    _, _, (problem,) = found_in(f"# dlb: {clauses}\nfor i in A:\n    A[i] = 0\n")
    assert (problem.code, problem.message) == ("DLB111", said)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 900),
        "if a: pass\n" + "elif b: pass\n" * 2000,
        "x = " + "(" * 150 + "1" + ")" * 150,
        "x = " + "f(" * 80 + "1" + ")" * 80,
    ],
    ids=["a sum of 900 terms", "2000 elifs", "150 brackets", "80 calls"],
)
def test_deep_programs_are_taken(text: str) -> None:
    text += "\n# dlb: parallel\nfor i in range(3):\n    pass\n"
    result = transform(Source("case.py", text.encode(), text))
    assert result.text is not None, result.diagnostics


@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 20_000),
        "x = " + "(" * 1500 + ")" * 1500,
        "x = " + "-" * 100_000 + "1",
        "x = 1" + ".a" * 50_000,
    ],
    ids=["sum", "brackets", "signs", "attributes"],
)
def test_deeper_ones_get_a_diagnostic(text: str) -> None:
    text += "\n# dlb: parallel\nfor i in range(3):\n    pass\n"
    result = transform(Source("case.py", text.encode(), text))
    assert result.text is None
    assert result.diagnostics[0].code in ("DLB004", "DLB005")
