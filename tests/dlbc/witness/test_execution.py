"""`dlbc witness` runs the program as Python would, and reports beside it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

#: Programs whose behaviour a rewrite may change by mistake.
TRICKY = {
    "order of evaluation": """def say(x, y=None):
    print(x)
    return y
A = [[0, 1], [2, 3]]
# dlb: parallel
for i in range(2):
    say('object', A)[say('first', i)][say('second', 0)] = say('value', 5)
    say('object', A)[say('key', i)][1] += say('operand', 1)
    say('function', max)(say('one', 1), *say('rest', [2]), key=say('named'))
    a, A[i][0] = say('pair', (1, 2))
print(A)
""",
    "names and classes": """'''A documented module.'''
from __future__ import annotations
import dataclasses
__all__ = ['P']
@dataclasses.dataclass
class P:
    '''A documented class.'''
    x: int = 0
    __hidden = 3
    rows: list[int] = dataclasses.field(default_factory=list)
    def total(self, k: int = 2) -> int:
        '''A documented function.'''
        t = 0
        # dlb: parallel
        for i in range(k):
            t += self.x + self.__hidden
        return t
class Q(P):
    def total(self, *rest, **named):
        return super().total(*rest, **named) + __class__.__name__.__len__()
print(__doc__, P.__doc__, P.total.__doc__, Q(1).total(k=3), Q(1) == Q(1), sorted(vars(Q(1))))
def f(a, /, b=[1][0], *, c: 'x' = 2, **d):
    x: int
    y: int = 3
    return a, b, c, d, y, sorted(locals())
print(f(1, c=4, e=5))
""",
    "scopes": """x = 1
def outer():
    x = 2
    # dlb: parallel
    for i in range(3):
        x = [x := i, i + 0][0] if False else i
        y = [(z := k) for k in range(x + 1) if k < 9]
        g = lambda: x + z
        def h():
            nonlocal x
            x = g()
        h()
    class C:
        a = [x for _ in range(2)]
    return x, y, z, C.a
print(outer(), x)
async def later():
    return [k async for k in numbers()]
async def numbers():
    for k in range(3):
        yield k
import asyncio
print(asyncio.run(later()))
""",
    "what a loop leaves": """def find(rows):
    # dlb: parallel
    for row in rows:
        if row[0] == 2:
            return row
    else:
        return None
rows = [[1], [2], [3]]
print(find(rows) is rows[1], type(rows[0]) is list)
# dlb: parallel
for i in range(5):
    if i == 3:
        break
else:
    print('never')
print(i)
for k in range(2):
    try:
        # dlb: parallel
        for i in [3, 0]:
            1 // i
    except ZeroDivisionError as error:
        print(error, i)
""",
    "the program's own view": """import sys, os
print(__name__, sys.argv, os.path.basename(__file__), sys.modules['__main__'].__dict__ is globals())
# dlb: parallel
for i in range(2):
    print(i, end=' ', flush=True)
print(sys.stdin.read())
""",
}


@dataclass(frozen=True)
class Done:
    """What a process left."""

    status: int
    out: str
    err: str


def python(directory: Path, *arguments: str) -> Done:
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, input="given", timeout=120, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


def witness(directory: Path, program: str, *arguments: str) -> Done:
    (directory / "prog.py").write_text(program)
    return python(directory, "-m", "dlbc", "witness", "prog.py", *arguments)


@pytest.mark.parametrize("name", TRICKY)
def test_a_program_does_what_it_does_in_python(name: str, tmp_path: Path) -> None:
    observed = witness(tmp_path, TRICKY[name], "one", "--two")
    plain = python(tmp_path, "prog.py", "one", "--two")
    assert plain.status == 0, plain.err
    assert observed.out == plain.out, observed.err


def test_the_report_of_a_conflict(tmp_path: Path) -> None:
    program = "A = [1, 2, 3]\n# dlb: parallel\nfor i in range(2):\n    A[i] = A[i + 1]\nprint(A)\n"
    assert witness(tmp_path, program) == Done(
        1,
        "[2, 3, 3]\n",
        "prog.py:4:5: conflict: iterations i = 0 and i = 1 share A[1]\n"
        "    4 |     A[i] = A[i + 1]\n"
        "      |     ^^^^ iteration i = 1 stores to it\n"
        "    4 |     A[i] = A[i + 1]\n"
        "      |            -------- iteration i = 0 read it before\n"
        "  in the parallel loop of line 3\n"
        "prog.py: 1 loop of 1 with a conflict; watched: 1 loop, 1 run, 2 iterations, 4 accesses\n",
    )


def test_the_report_of_none(tmp_path: Path) -> None:
    program = "A = [1, 2, 3]\n# dlb: parallel\nfor i in range(2):\n    A[i] = 0\nprint(A)\n"
    summary = "prog.py: no conflict between iterations; watched: 1 loop, 1 run, 2 iterations, 2 accesses\n"
    assert witness(tmp_path, program) == Done(0, "[0, 0, 3]\n", summary)
    assert witness(tmp_path, program) == Done(0, "[0, 0, 3]\n", summary)


def test_an_exception_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    program = """def f(A, i):
    return A[i - 1] + A[i] / (A[i] - A[i])
A = [1.0, 2.0]
# dlb: parallel
for i in range(1, 3):
    A[i] = f(A, i)
"""
    done = witness(tmp_path, program)
    plain = python(tmp_path, "prog.py")
    report, _, shown = done.err.partition("Traceback")
    assert "Traceback" + shown == plain.err.replace(str(tmp_path) + "/", "")
    assert report.endswith("  the program ended with ZeroDivisionError\n")
    assert done.status == 1


def test_a_conflict_before_an_exception_is_reported(tmp_path: Path) -> None:
    program = "A = [1, 2, 3]\n# dlb: parallel\nfor i in range(9):\n    A[i] = A[i - 1]\n"
    done = witness(tmp_path, program)
    assert "conflict: iterations i = 0 and i = 1 share A[0]" in done.err
    assert done.err.endswith("IndexError: list assignment index out of range\n")
    assert done.err.count("Traceback") == 1
    assert done.status == 1


@pytest.mark.parametrize(
    ("ending", "status", "words"),
    [
        ("sys.exit()", 0, ""),
        ("sys.exit(0)", 0, ""),
        ("sys.exit(3)", 1, "  the program ended with exit status 3\n"),
        ("sys.exit('too bad')", 1, "  the program ended with too bad\n"),
    ],
)
def test_the_program_may_exit(ending: str, status: int, words: str, tmp_path: Path) -> None:
    done = witness(tmp_path, f"import sys\n# dlb: parallel\nfor i in range(2):\n    pass\n{ending}\n")
    assert done.status == status
    assert done.err.partition("accesses\n")[2] == words


@pytest.mark.parametrize(
    ("program", "status", "words"),
    [
        ("for i in range(:\n", 1, "error[DLB004]"),
        ("# dlb: parallel, BLOK\nfor i in range(3):\n    print(i)\n", 1, "error[DLB1"),
        ("# dlb: parallel\nx = 1\n", 1, "error[DLB103]"),
        (
            "def f():\n    # dlb: parallel\n    for i in []:\n        if i:\n\\\n            x = 1\n"
            "        y = 2\n    z = 3\n",
            1,
            "error[DLB009]",
        ),
        ("x = " + "(" * 300 + "1" + ")" * 300 + "\n", 1, "error[DLB0"),
        ("x = " + " + ".join(["x[0]"] * 30_000) + "\n", 1, "error[DLB005]"),
    ],
)
def test_broken_programs(program: str, status: int, words: str, tmp_path: Path) -> None:
    done = witness(tmp_path, program)
    assert words in done.err
    assert "Traceback" not in done.err
    assert done.status == status
    assert done.out == ""


def test_a_file_that_is_not_there_and_wrong_usage(tmp_path: Path) -> None:
    absent = python(tmp_path, "-m", "dlbc", "witness", "absent.py")
    assert absent.status == 2
    assert "error[DLB001]" in absent.err
    assert python(tmp_path, "-m", "dlbc", "witness").status == 2


def test_no_loop_at_all(tmp_path: Path) -> None:
    done = witness(tmp_path, "print(1)\n")
    assert done == Done(0, "1\n", "prog.py: no parallel loop to watch\n")


def test_what_is_not_watched_is_named(tmp_path: Path) -> None:
    program = """import struct, threading
A = bytearray(8)
# dlb: parallel
for i in range(2):
    struct.pack_into('i', A, 0, i)
    thread = threading.Thread(target=lambda: A[0])
    thread.start()
    thread.join()
    memory = memoryview(A)
if False:
    # dlb: parallel
    for i in range(3):
        pass
def produce():
    # dlb: parallel
    for i in range(3):
        yield i
print(list(produce()))
"""
    done = witness(tmp_path, program)
    assert done.err.splitlines()[1:] == [
        "  not watched: the loop of line 12, which did not run",
        "  not watched: the loop of line 16, whose body is suspended by `yield` or `await`",
        "  not watched: what `_struct.pack_into` does with its arguments, line 5",
        "  not watched: what other threads do, line 6",
    ]
    assert done.out == "[0, 1, 2]\n"


def test_the_programs_own_modules_are_watched(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("A = [0] * 4\n\n\ndef step(k):\n    A[k] = A[k - 1] + 1\n")
    done = witness(
        tmp_path, "import own\n# dlb: parallel\nfor i in range(3):\n    own.step(i)\nprint(own.A)\n"
    )
    first = done.err.splitlines()[0]
    assert first == f"{tmp_path}/own.py:5:12: conflict: iterations i = 0 and i = 1 share A[0]"
    assert done.out == "[1, 2, 3, 0]\n"
    assert done.status == 1


def test_two_loops_have_a_finding_each(tmp_path: Path) -> None:
    loop = "# dlb: parallel\nfor i in range(1, 3):\n    A[i] = A[i - 1]\n"
    done = witness(tmp_path, "A = [1, 2, 3]\n" + loop + loop)
    assert [line for line in done.err.splitlines() if "in the parallel" in line] == [
        "  in the parallel loop of line 3",
        "  in the parallel loop of line 6",
    ]
    assert "prog.py: 2 loops of 2 with a conflict" in done.err


def test_an_inner_run_and_the_outer_loop_each_find_their_own(tmp_path: Path) -> None:
    program = """A = [0, 0, 0]
def inner(k):
    # dlb: parallel
    for j in range(1, 3):
        A[j] = A[j - 1]
# dlb: parallel
for i in range(2):
    inner(i)
"""
    done = witness(tmp_path, program)
    assert "iterations j = 1 and j = 2 share A[1]" in done.err
    assert "iterations i = 0 and i = 1 share A[1]" in done.err


def test_many_accesses_are_counted(tmp_path: Path) -> None:
    program = """A = [0] * 1000
# dlb: parallel
for i in range(1000):
    for k in range(100):
        A[i] = A[i] + k
"""
    done = witness(tmp_path, program)
    assert "1000 iterations, 400000 accesses" in done.err


def test_a_loop_within_a_parallel_loop_is_watched_too(tmp_path: Path) -> None:
    program = """A = [[0, 0, 0], [0, 0, 0]]
# dlb: parallel
for i in range(2):
    # dlb: parallel
    for j in range(1, 3):
        A[i][j] = A[i][j - 1]
"""
    done = witness(tmp_path, program)
    assert "prog.py:6:19: conflict: iterations j = 1 and j = 2 share A[0][1]" in done.err
    assert "prog.py: 1 loop of 2 with a conflict; watched: 2 loops, 3 runs, 6 iterations" in done.err


def test_a_comment_that_is_nearly_an_annotation_is_pointed_out(tmp_path: Path) -> None:
    done = witness(tmp_path, "#dlb: parallel\nfor i in range(2):\n    print(i)\n")
    assert "warning[DLB106]" in done.err
    assert (done.status, done.out) == (0, "0\n1\n")


def test_memory_seen_as_other_elements_is_named(tmp_path: Path) -> None:
    program = """import numpy as np
A = np.zeros(4)
B = A.view(np.uint8)
# dlb: parallel
for i in range(2):
    B[8 * i] = i
"""
    done = witness(tmp_path, program)
    assert "  not watched: views with elements of another size than the array's, line 6\n" in done.err


def test_modules_of_a_program_behind_a_link_are_found(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "beside.py").write_text("value = 7\n")
    (tmp_path / "home" / "main.py").write_text("import beside\nprint(beside.value)\n")
    (tmp_path / "main.py").symlink_to("home/main.py")
    done = python(tmp_path, "-m", "dlbc", "witness", "main.py")
    assert done.out.splitlines()[0] == "7", done.err
