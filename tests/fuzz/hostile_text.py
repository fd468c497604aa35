"""Programs that are short to write and may be dear to check: one shape a function, grown by a number.

    python tests/fuzz/hostile_text.py [--mode transform] [--limit SECONDS] [SHAPE...]

checks each shape at growing sizes up to 1 MB, each in a process of its own, and prints seconds of CPU time,
megabytes and diagnostics. `SHAPES` has the shapes by name, with the sizes to try.
"""

from __future__ import annotations

import argparse
import collections
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from dlbrt.records import dataclass

ANNOTATED = "# dlb: parallel\nfor i in range(n):\n"
HEAD = "import numpy as np\nn = 100\nA = np.zeros(n)\nB = np.ones(n)\nC = np.zeros((n, n))\n"


@dataclass(frozen=True)
class Shape:
    """Programs of one kind; ``sizes`` are what to try, of which the first is checked in no time."""

    write: Callable[[int], str]
    sizes: tuple[int, ...]


def body(*lines: str, head: str = HEAD, annotation: str = "# dlb: parallel") -> str:
    """A program of one annotated loop with these lines as its body."""
    return f"{head}{annotation}\nfor i in range(n):\n" + "".join(f"    {line}\n" for line in lines)


def _loops(n: int) -> str:
    return HEAD + (ANNOTATED + "    A[i] = B[i]\n") * n


def _loops_with_arrays(n: int) -> str:
    return HEAD + "".join(f"A{k} = np.zeros(n)\n{ANNOTATED}    A{k}[i] = B[i]\n" for k in range(n))


def _loops_in_functions(n: int) -> str:
    loop = "    # dlb: parallel\n    for i in range(len(A)):\n        A[i] = B[i] * 2\n"
    return "".join(f"def f{k}(A, B):\n{loop}\n" for k in range(n))


def _loops_that_call(n: int) -> str:
    functions = "".join(f"def f{k}(x):\n    return x * {k}\n" for k in range(n))
    return functions + HEAD + "".join(f"{ANNOTATED}    A[i] = f{k}(B[i])\n" for k in range(n))


def _refused_loops(n: int) -> str:
    return HEAD + (ANNOTATED + "    A[i] = A[i - 1]\n") * n


def _loops_with_costs(n: int) -> str:
    return HEAD + "# dlb: parallel, cost(i + 1)\nfor i in range(n):\n    A[i] = B[i]\n" * n


def _plain_loops(n: int) -> str:
    return HEAD + "for i in range(n):\n    A[i] = B[i]\n" * n + ANNOTATED + "    A[i] = B[i]\n"


def _routine(n: int) -> str:
    loop = "    # dlb: parallel\n    for i in range(n):\n        A[i] = A[i] + 1\n"
    return HEAD + "# dlb: iterate\nfor t in range(9):\n" + loop + "    print(A[3])\n    B[2] = A[4]\n" * n


def _loops_in_a_routine(n: int) -> str:
    loop = "    # dlb: parallel\n    for i in range(n):\n        A[i] = A[i] + 1\n"
    return HEAD + "# dlb: iterate\nfor t in range(9):\n" + loop * n


def _unattached(n: int) -> str:
    return HEAD + "# dlb: parallel\nx = 1\n" * n


def _clauses(n: int) -> str:
    return body("A[i] = B[i]", annotation=f"# dlb: parallel, private({', '.join(f't{k}' for k in range(n))})")


def _unknown_clauses(n: int) -> str:
    return body("A[i] = B[i]", annotation=f"# dlb: parallel, {', '.join(f'blok{k}' for k in range(n))}")


def _statements(n: int) -> str:
    return body(*["A[i] = B[i] + 1"] * n)


def _stores_to_arrays(n: int) -> str:
    head = HEAD + "".join(f"A{k} = np.zeros(n)\n" for k in range(n))
    return body(*(f"A{k}[i] = B[i]" for k in range(n)), head=head)


def _parameters(n: int) -> str:
    arrays = ", ".join(f"A{k}" for k in range(n))
    lines = "".join(f"        A{k}[i] = 1\n" for k in range(n))
    return f"def f({arrays}):\n    # dlb: parallel\n    for i in range(9):\n{lines}"


def _shifts(n: int) -> str:
    return body("A[i] = 0", *(f"t = A[i + {k}]" for k in range(1, n)))


def _strided_stores(n: int) -> str:
    return body(*(f"A[{n} * i + {k}] = {k}" for k in range(n)))


def _subscripts_of_sums(n: int) -> str:
    head = HEAD + "".join(f"m{k} = n\n" for k in range(n))
    return body(*(f"A[i + m{k}] = B[i]" for k in range(n)), head=head)


def _dimensions(n: int) -> str:
    return body(f"A[{', '.join(['i'] * n)}] = 1")


def _temporaries(n: int) -> str:
    return body(*(f"t{k} = B[i] + {k}" for k in range(n)), "A[i] = t0")


def _doubled(n: int) -> str:
    return body("t0 = i + 1", *(f"t{k + 1} = t{k} + t{k}" for k in range(n)), f"A[t{n}] = 1")


def _squared(n: int) -> str:
    return body("t0 = i + 1", *(f"t{k + 1} = t{k} * t{k}" for k in range(n)), f"A[t{n}] = 1")


def _chained(n: int) -> str:
    return body("t0 = i", *(f"t{k + 1} = t{k} + m{k}" for k in range(n)), f"A[t{n}] = 1")


def _reassigned(n: int) -> str:
    return body("t = i", *["t = t + t"] * n, "A[t] = 1")


def _branches(n: int) -> str:
    lines = [f"if B[i] > {k}:\n        t = t + {k}\n    else:\n        t = t * 2" for k in range(n)]
    return body("t = i", *lines, "A[t] = 1")


def _inner_loops(n: int) -> str:
    return body(*["for j in range(i):\n        C[i, j] = B[j]"] * n)


def _inner_whiles(n: int) -> str:
    return body(*["t = 0\n    while t < i:\n        t += 1\n        C[i, t] = 1"] * n)


def _nested(n: int, line: Callable[[int], str], last: str) -> str:
    lines = [" " * k + line(k) for k in range(n)]
    return body(*lines, " " * n + last)


def _nest(n: int) -> str:
    return _nested(n, lambda k: f"for j{k + 1} in range(n):", "C[i, j1] = 1")


def _triangles(n: int) -> str:
    return _nested(n, lambda k: f"for j{k + 1} in range({f'j{k}' if k else 'i'}):", "C[i, j1] = 1")


def _divided_triangles(n: int) -> str:
    return _nested(n, lambda k: f"for j{k + 1} in range({f'j{k}' if k else 'i'} // 2):", "C[i, j1] = 1")


def _clamped(n: int) -> str:
    return _nested(
        n, lambda k: f"for j{k + 1} in range(max({f'j{k}' if k else 'i'}, m{k}), min(n, i)):", "C[i, j1] = 1"
    )


def _ifs(n: int) -> str:
    return _nested(n, lambda k: f"if B[i] > {k}:", "A[i] = 1")


def _tries(n: int) -> str:
    lines = [" " * k + "try:" for k in range(n)] + [" " * n + "A[i] = 1"]
    lines += [" " * k + "finally:\n    " + " " * k + " pass" for k in reversed(range(n))]
    return body(*lines)


def _elifs(n: int) -> str:
    return body(
        "if B[i] > 0:\n        A[i] = 0", *(f"elif B[i] > {k}:\n        A[i] = {k}" for k in range(1, n))
    )


def _expression(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: body(f"A[i] = {write(n)}")


def _subscript(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: body(f"A[{write(n)}] = 1")


def _bound(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: f"{HEAD}# dlb: parallel\nfor i in range({write(n)}):\n    A[i] = 1\n"


def _inner_bound(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: body(f"for j in range({write(n)}):\n        C[i, j] = B[j]")


def _cost(write: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: body("A[i] = 1", annotation=f"# dlb: parallel, cost({write(n)})")


def _sums(n: int) -> str:
    return " * ".join(f"(i + m{k})" for k in range(n))


def _powers_of_sums(n: int) -> str:
    return f"({' + '.join(['i', *(f'm{k}' for k in range(n))])}) ** {n}"


def _divisions(n: int) -> str:
    return "(" * n + "i" + "".join(f" {'%' if k % 2 else '//'} {k + 2})" for k in range(n))


def _sum_of_divisions(n: int) -> str:
    return " + ".join(f"i // {k + 2} + i % {k + 2}" for k in range(n))


def _product(n: int) -> str:
    return " * ".join(["i", *(f"m{k}" for k in range(n))])


def _sum_of_products(n: int) -> str:
    return " + ".join(f"i * m{k} * p{k}" for k in range(n))


def _calls_doubling(n: int) -> str:
    functions = "def f0(A, i):\n    A[i] = 1\n" + "".join(
        f"def f{k + 1}(A, i):\n    f{k}(A, i)\n    f{k}(A, i)\n" for k in range(n)
    )
    return functions + body(f"f{n}(A, i)")


def _calls_in_a_row(n: int) -> str:
    functions = "def f0(A, i):\n    A[i] = 1\n" + "".join(
        f"def f{k + 1}(A, i):\n    f{k}(A, i)\n" for k in range(n)
    )
    return functions + body(f"f{n}(A, i)")


def _values_doubling(n: int) -> str:
    functions = "def f0(x):\n    return x\n" + "".join(
        f"def f{k + 1}(x):\n    return f{k}(x) + f{k}(x)\n" for k in range(n)
    )
    return functions + body(f"A[i] = f{n}(B[i])")


def _functions(n: int) -> str:
    return "".join(f"def f{k}(x):\n    return x + {k}\n" for k in range(n)) + body("A[i] = f0(B[i])")


def _functions_that_call(n: int) -> str:
    functions = "".join(f"def f{k}(x):\n    return f{(k + 1) % n}(x) + f{k // 2}(x)\n" for k in range(n))
    return functions + body("A[i] = f0(B[i])")


def _nested_functions(n: int) -> str:
    lines = [" " * k + f"def f{k}(x{k}):" for k in range(n)]
    lines += [
        " " * n + "return 1",
        *(" " * (k + 1) + f"return f{k + 1}(x{k})" for k in reversed(range(n - 1))),
    ]
    return "\n".join(lines) + "\n" + body("A[i] = f0(B[i])")


def _functions_in_body(n: int) -> str:
    return body(*(f"def f{k}(x): return x + {k}" for k in range(n)), "A[i] = f0(B[i])")


def _classes(n: int) -> str:
    classes = "".join(
        f"class K{k}:\n    def m(self, x):\n        self.v = x\n        return x\n" for k in range(n)
    )
    return classes + "p = [K0() for k in range(100)]\n" + body("A[i] = p[i].m(B[i])")


def _derived(n: int) -> str:
    classes = "class K0:\n    def m(self, x):\n        return x\n" + "".join(
        f"class K{k + 1}(K{k}):\n    pass\n" for k in range(n)
    )
    return classes + f"p = K{n}()\n" + body("A[i] = p.m(B[i])")


def _aliases(n: int) -> str:
    head = HEAD + "a0 = A\n" + "".join(f"a{k + 1} = a{k}\n" for k in range(n))
    return body(f"a{n}[i] = B[i]", head=head)


def _aliases_in_body(n: int) -> str:
    return body("a0 = A", *(f"a{k + 1} = a{k}" for k in range(n)), f"a{n}[i] = B[i]")


def _views(n: int) -> str:
    head = HEAD + "a0 = A\n" + "".join(f"a{k + 1} = a{k}[1:]\n" for k in range(n))
    return body(f"a{n}[i] = B[i]", f"a{n // 2}[i] = B[i]", head=head)


def _numbers(n: int) -> str:
    head = HEAD + "c0 = 1\n" + "".join(f"c{k + 1} = c{k} + c{k}\n" for k in range(n))
    return body(f"A[i + c{n}] = A[i]", head=head)


def _sums_to(n: int) -> str:
    return body(*(f"s{k} += B[i]" for k in range(n)), head=HEAD + "".join(f"s{k} = 0\n" for k in range(n)))


def _additions_to_one(n: int) -> str:
    return body(*["s += B[i]"] * n, head=HEAD + "s = 0\n")


def _appends(n: int) -> str:
    return body(*["out.append(B[i])"] * n, head=HEAD + "out = []\n")


def _prints(n: int) -> str:
    return body(*["print(i)"] * n)


def _attributes(n: int) -> str:
    return body(*(f"o.a{k}[i] = 1" for k in range(n)), head=HEAD + "import other\no = other.o\n")


def _unseen_calls(n: int) -> str:
    return body(*(f"g{k}(A[i])" for k in range(n)), head=HEAD + "from other import *\n")


def _handlers(n: int) -> str:
    lines = "".join(f"    except E{k}:\n        A[i] = {k}\n" for k in range(n))
    return body("try:\n        A[i] = B[i]") + lines


def _matches(n: int) -> str:
    return body("match B[i]:", *(f"    case {k}: A[i] = {k}" for k in range(n)))


def _globals(n: int) -> str:
    names = ", ".join(f"g{k}" for k in range(n))
    return "".join(f"g{k} = 1\n" for k in range(n)) + f"def f():\n    global {names}\n" + body("A[i] = f()")


def _strings_of_loops(n: int) -> str:
    return (
        HEAD
        + "TEXT = '''\n"
        + "# dlb: parallel\nfor i in range(3): A[i] = 1\n" * n
        + "'''\n"
        + ANNOTATED
        + "    A[i] = 1\n"
    )


def _imports(n: int) -> str:
    return "".join(f"import m{k}\n" for k in range(n)) + body("A[i] = m0.f(B[i])")


def _assignments_before(n: int) -> str:
    return body("A[i] = B[i]", head=HEAD + "".join(f"x{k} = {k}\n" for k in range(n)))


def _statements_after(n: int) -> str:
    return body("t = B[i]", "A[i] = t") + "print(t, i)\nif n: t = 2\n" * n


def _conditions_around(n: int) -> str:
    lines = [" " * k + f"if n > {k}:" for k in range(n)]
    loop = [" " * n + line for line in ("# dlb: parallel", "for i in range(n):", "    A[i] = 1")]
    return HEAD + "\n".join(lines + loop) + "\n"


def _jit(n: int) -> str:
    return body(
        *["for j in range(n):\n        C[i, j] = C[i, j] + B[j]"] * n, annotation="# dlb: parallel, jit"
    )


def _jit_statements(n: int) -> str:
    return body(*(f"t{k} = B[i] * {k}.5" for k in range(n)), "A[i] = t0", annotation="# dlb: parallel, jit")


_LINES = (1, 250, 500, 1000, 2000, 4000, 8000, 16000)
_FEW = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_NESTED = (1, 4, 8, 12, 16, 19)
_DEEP = (1, 25, 50, 90)
_LONG = (1, 100, 1000, 10000, 100000)

#: All shapes, by name.
SHAPES: dict[str, Shape] = {
    "annotated loops": Shape(_loops, _LINES),
    "annotated loops with arrays": Shape(_loops_with_arrays, _LINES),
    "annotated loops in functions": Shape(_loops_in_functions, _LINES),
    "annotated loops that call": Shape(_loops_that_call, _LINES),
    "refused loops": Shape(_refused_loops, _LINES),
    "loops with costs": Shape(_loops_with_costs, _LINES),
    "plain loops": Shape(_plain_loops, _LINES),
    "statements of a routine": Shape(_routine, _LINES),
    "loops of a routine": Shape(_loops_in_a_routine, _LINES),
    "annotations of no loop": Shape(_unattached, _LINES),
    "names in a clause": Shape(_clauses, _LINES),
    "unknown clauses": Shape(_unknown_clauses, _LINES),
    "statements": Shape(_statements, _LINES),
    "stores to arrays": Shape(_stores_to_arrays, _LINES),
    "parameters": Shape(_parameters, _LINES),
    "shifted reads": Shape(_shifts, _LINES),
    "strided stores": Shape(_strided_stores, _LINES),
    "stores at sums": Shape(_subscripts_of_sums, _LINES),
    "dimensions": Shape(_dimensions, _LONG),
    "temporaries": Shape(_temporaries, _LINES),
    "doubled temporaries": Shape(_doubled, _LINES),
    "squared temporaries": Shape(_squared, _FEW),
    "chained temporaries": Shape(_chained, _LINES),
    "one name bound again": Shape(_reassigned, _LINES),
    "branches": Shape(_branches, _LINES),
    "inner loops": Shape(_inner_loops, _LINES),
    "inner while loops": Shape(_inner_whiles, _LINES),
    "nested loops": Shape(_nest, _NESTED),
    "nested triangles": Shape(_triangles, _NESTED),
    "nested divided triangles": Shape(_divided_triangles, _NESTED),
    "nested clamped loops": Shape(_clamped, _NESTED),
    "nested conditions": Shape(_ifs, _DEEP),
    "nested tries": Shape(_tries, _NESTED),
    "elif chain": Shape(_elifs, _LINES),
    "nested lambdas": Shape(_expression(lambda n: "lambda: " * n + "B[i]"), _FEW),
    "nested lambdas called": Shape(_expression(lambda n: "(lambda: " * n + "B[i]" + ")()" * n), _FEW),
    "nested comprehensions": Shape(
        _expression(lambda n: "[" * n + "B[i]" + "".join(f" for x{k} in range(3)]" for k in range(n))), _FEW
    ),
    "generators in a comprehension": Shape(
        _expression(lambda n: "[B[i]" + "".join(f" for x{k} in range(i)" for k in range(n)) + "]"), _LINES
    ),
    "nested conditional expressions": Shape(
        _expression(lambda n: "".join(f"(B[i] if i > {k} else " for k in range(n)) + "1" + ")" * n), _FEW
    ),
    "conditional expression chain": Shape(
        _expression(lambda n: "".join(f"B[i] if i > {k} else " for k in range(n)) + "1"), _LINES
    ),
    "parentheses": Shape(_expression(lambda n: "(" * n + "B[i]" + ")" * n), _LONG),
    "minus signs": Shape(_expression(lambda n: "-" * n + "B[i]"), _LONG),
    "nots": Shape(_expression(lambda n: "not " * n + "B[i]"), _LONG),
    "a long sum": Shape(_expression(lambda n: " + ".join(["B[i]"] * (n + 1))), _LONG),
    "a long product": Shape(_expression(lambda n: " * ".join(["B[i]"] * (n + 1))), _LONG),
    "a long comparison": Shape(_expression(lambda n: " < ".join(["B[i]"] * (n + 1))), _LONG),
    "a long or": Shape(_expression(lambda n: " or ".join(["B[i]"] * (n + 1))), _LONG),
    "attribute chain": Shape(_expression(lambda n: "B" + ".a" * n + "[i]"), _LONG),
    "subscript chain": Shape(_expression(lambda n: "B" + "[i]" * n), _LONG),
    "call chain": Shape(_expression(lambda n: "f" + "(i)" * n), _LONG),
    "method chain": Shape(_expression(lambda n: "B[i]" + ".m(i)" * n), _LONG),
    "nested calls": Shape(_expression(lambda n: "abs(" * n + "B[i]" + ")" * n), _FEW),
    "nested unseen calls": Shape(_expression(lambda n: "f(" * n + "B[i]" + ")" * n), _FEW),
    "nested subscripts": Shape(_expression(lambda n: "B[" * n + "i" + "]" * n), _FEW),
    "nested subscripts of a store": Shape(_subscript(lambda n: "B[" * n + "i" + "]" * n), _FEW),
    "arguments": Shape(_expression(lambda n: f"max({', '.join(['B[i]'] * (n + 1))})"), _LONG),
    "a long list": Shape(
        lambda n: HEAD + f"X = [{', '.join(['1'] * n)}]\n" + ANNOTATED + "    A[i] = 1\n", _LONG
    ),
    "a long list in the body": Shape(_expression(lambda n: f"[{', '.join(['B[i]'] * n)}][0]"), _LONG),
    "a long string": Shape(_expression(lambda n: "len('" + "x" * n + "')"), (1, 1000, 1000000)),
    "an f-string": Shape(_expression(lambda n: "len(f'" + "{i}" * n + "')"), _LONG),
    "bindings in an expression": Shape(
        _expression(lambda n: " + ".join(f"(t{k} := B[i])" for k in range(n))), _LINES
    ),
    "sum of names in a subscript": Shape(
        _subscript(lambda n: " + ".join(["i", *(f"m{k}" for k in range(n))])), _LINES
    ),
    "i added in a subscript": Shape(_subscript(lambda n: " + ".join(["i"] * (n + 1))), _LONG),
    "minus signs in a subscript": Shape(_subscript(lambda n: "-" * n + "i"), _LONG),
    "divisions in a subscript": Shape(_subscript(_divisions), _FEW),
    "sum of divisions in a subscript": Shape(_subscript(_sum_of_divisions), _FEW),
    "product of names in a subscript": Shape(_subscript(_product), _FEW),
    "products of sums in a subscript": Shape(_subscript(_sums), _FEW),
    "power of a sum in a subscript": Shape(_subscript(_powers_of_sums), _FEW),
    "power in a subscript": Shape(_subscript(lambda n: f"i ** {n}"), _LONG),
    "power of powers in a subscript": Shape(_subscript(lambda n: "(" * n + "i" + " ** 9)" * n), _FEW),
    "number powers in a subscript": Shape(_subscript(lambda n: "i + " + "9 ** " * n + "9"), _FEW),
    "shifts in a subscript": Shape(
        _subscript(lambda n: f"i + (1 << {n})"), (1, 1000, 1000000, 10**9, 10**12)
    ),
    "sum of products in a subscript": Shape(_subscript(_sum_of_products), _FEW),
    "minima in a subscript": Shape(
        _subscript(lambda n: "".join(f"min(m{k}, " for k in range(n)) + "i" + ")" * n), _FEW
    ),
    "conditions in a subscript": Shape(
        _subscript(lambda n: "".join(f"({k} if i > {k} else " for k in range(n)) + "i" + ")" * n), _FEW
    ),
    "hexadecimal digits in a subscript": Shape(_subscript(lambda n: "i + 0x" + "f" * n), _LONG),
    "hexadecimal digits": Shape(_expression(lambda n: "0x" + "f" * n), _LONG),
    "hexadecimal digits in a bound": Shape(_bound(lambda n: "0x" + "f" * n), _LONG),
    "hexadecimal digits before the loop": Shape(
        lambda n: HEAD + f"x = 0x{'f' * n}\n" + ANNOTATED + "    A[i + x] = x\n", _LONG
    ),
    "hexadecimal digits in a cost": Shape(_cost(lambda n: "i + 0x" + "f" * n), _LONG),
    "decimal digits in a cost": Shape(_cost(lambda n: "i + " + "9" * n), _LONG),
    "products of sums in a cost": Shape(_cost(_sums), _FEW),
    "power of a sum in a cost": Shape(_cost(_powers_of_sums), _FEW),
    "power in a cost": Shape(_cost(lambda n: f"i ** {n}"), _LONG),
    "power of powers in a cost": Shape(_cost(lambda n: "(" * n + "i" + " ** 9)" * n), _FEW),
    "divisions in a cost": Shape(_cost(_divisions), _FEW),
    "minima in a cost": Shape(
        _cost(lambda n: "".join(f"min(n - {k}, " for k in range(n)) + "i" + ")" * n), _FEW
    ),
    "conditions in a cost": Shape(
        _cost(lambda n: "".join(f"({k} if i > {k} else " for k in range(n)) + "i" + ")" * n), _FEW
    ),
    "a long cost": Shape(_cost(lambda n: " + ".join(["i"] * (n + 1))), _LONG),
    "lambdas in a cost": Shape(_cost(lambda n: "lambda: " * n + "i"), _FEW),
    "products of sums in a bound": Shape(_bound(_sums), _FEW),
    "power in a bound": Shape(_bound(lambda n: f"n ** {n}"), _LONG),
    "divisions in a bound": Shape(_bound(lambda n: _divisions(n).replace("i", "n")), _FEW),
    "minima in a bound": Shape(
        _bound(lambda n: "".join(f"min(m{k}, " for k in range(n)) + "n" + ")" * n), _FEW
    ),
    "products of sums in an inner bound": Shape(_inner_bound(_sums), _FEW),
    "power in an inner bound": Shape(_inner_bound(lambda n: f"i ** {n}"), _LONG),
    "power of a sum in an inner bound": Shape(_inner_bound(_powers_of_sums), _FEW),
    "divisions in an inner bound": Shape(_inner_bound(_divisions), _FEW),
    "minima in an inner bound": Shape(
        _inner_bound(lambda n: "".join(f"min(m{k}, " for k in range(n)) + "i" + ")" * n), _FEW
    ),
    "calls doubling": Shape(_calls_doubling, _FEW),
    "values of calls doubling": Shape(_values_doubling, _FEW),
    "calls in a row": Shape(_calls_in_a_row, _LINES),
    "functions": Shape(_functions, _LINES),
    "functions that call": Shape(_functions_that_call, _LINES),
    "nested functions": Shape(_nested_functions, _DEEP),
    "functions in the body": Shape(_functions_in_body, _LINES),
    "classes": Shape(_classes, _LINES),
    "derived classes": Shape(_derived, _LINES),
    "aliases": Shape(_aliases, _LINES),
    "aliases in the body": Shape(_aliases_in_body, _LINES),
    "views of views": Shape(_views, _LINES),
    "numbers of numbers": Shape(_numbers, _LINES),
    "sums": Shape(_sums_to, _LINES),
    "additions to one sum": Shape(_additions_to_one, _LINES),
    "appends": Shape(_appends, _LINES),
    "prints": Shape(_prints, _LINES),
    "attributes": Shape(_attributes, _LINES),
    "unseen calls": Shape(_unseen_calls, _LINES),
    "handlers": Shape(_handlers, _LINES),
    "cases": Shape(_matches, _LINES),
    "globals": Shape(_globals, _LINES),
    "loops in a string": Shape(_strings_of_loops, _LINES),
    "imports": Shape(_imports, _LINES),
    "assignments before the loop": Shape(_assignments_before, _LINES),
    "statements after the loop": Shape(_statements_after, _LINES),
    "conditions around the loop": Shape(_conditions_around, _DEEP),
    "compiled inner loops": Shape(_jit, _LINES),
    "compiled statements": Shape(_jit_statements, _LINES),
}

#: No text is longer, in characters.
_LONGEST = 1_050_000


def measured(text: str, mode: str, limit: int) -> str:
    """What ``mode``, a function of `dlbc.pipeline`, takes for a text, and finds; empty beyond the limit."""
    from dlbc import pipeline
    from dlbc.parse.read_source import decode_source

    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        with open(read, encoding="utf-8") as output:
            found = output.read()
        os.waitpid(child, 0)
        return found
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    source, problems = decode_source("hostile.py", text.encode())
    result = problems or getattr(pipeline, mode)(source)
    codes = collections.Counter(d.code for d in (result if isinstance(result, tuple) else result.diagnostics))
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    shown = ", ".join(f"{code} x {count}" for code, count in codes.items()) or "accepted"
    os.write(write, f"{time.process_time() - start:8.2f} s {memory:6.0f} MB  {shown}".encode())
    os._exit(0)


def main() -> None:
    """Print a line for each shape and size, until a size takes a third of the limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mode", default="check", choices=("check", "transform", "explain"))
    parser.add_argument("--limit", type=int, default=10, help="seconds of CPU time for each text")
    parser.add_argument("shapes", nargs="*", default=list(SHAPES))
    options = parser.parse_args()
    measured(SHAPES["strided stores"].write(2), options.mode, 60)
    for name in options.shapes:
        for size in SHAPES[name].sizes:
            text = SHAPES[name].write(size)
            if len(text) > _LONGEST:
                break
            found = measured(text, options.mode, options.limit)
            print(f"{name:36} {size:8} {found or 'no verdict'}", flush=True)
            if not found or float(found.split()[0]) > options.limit / 3:
                break


if __name__ == "__main__":
    main()
