"""What subscripts through temporaries, inner loops, conditions and functions made in the body come to."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import results_of

HEAD = """\
import numpy as np
n, k, x = 8, 3, 0.7
A = np.zeros((40, 40))
B = np.zeros(400)
ix = list(range(40))
xs = [[0] * 9 for _ in range(40)]
# dlb: parallel
for i in range(n):
"""

DEPENDENT = [
    "for j in range(3):\n    if j > 0:\n        row[0] = i\n    row = A[j]\n    row[1] = 0",
    "row = A[i]\nfor j in range(3):\n    row[0] = i\n    row = A[j]",
    "t = i\nfor j in range(3):\n    B[t] += B[0]\n    t = j",
    "t = i\nfor j in range(3):\n    t += 1\n    B[t] = B[i]",
    "t = i\nif B[0] > 1:\n    t = 3\nB[t] = B[i]",
    "t = i\ntry:\n    t = int('x')\nexcept ValueError:\n    t = 0\nB[t] = B[1]",
    "t = i\nwhile t < 5:\n    B[t] = B[i]\n    t += 1",
    "g = (B[j] for j in range(3))\nB[i] = sum(g)",
    "for q in range(3):\n    g = (B[q + 1] for _ in range(2))\n    q = i + 1\n    B[i] = sum(g)",
    "f = lambda j: B[j + i - 1]\nB[i] = f(0)",
    "t, u = i, i + 1\nt, u = u, t\nB[t] = B[u]",
    "for j in range(3):\n    B[i] += B[i - j]",
    "for j in range(i, i + 2):\n    B[j] = B[i]",
    "B[i] = B[i - 1] if i > 0 else 0",
    "B[i] = i > 0 and B[i - 1]",
    "if i > 3:\n    B[i] = B[i - 3]",
    "t = [i, i + 1][0]\nB[t + 1] = B[t]",
    "with np.errstate(all='ignore'):\n    t = i\nt = t + 1\nB[t] = B[t - 1]",
    "(t := i + 1)\nB[t] = B[i]",
    "import math as t\nt = i\nB[t] = B[i + 1]",
    "B[i] = [B[j] for j in range(i, i + 2)][1]",
    "B[i] = max(B[j] for j in range(i))",
    "for j in range(2):\n    for j in range(3):\n        pass\n    B[i + j] = B[i]",
    "for j in range(4):\n    pass\nB[i + j] = B[i]",
    "match i:\n    case t:\n        B[t // 2] = B[0]",
    "B[i:i + 2] = B[i]",
    "B[:i] = B[i]",
    "B[i:] = B[0]",
    "A[i % 4, 0] = A[i, 0]",
    "A[min(i, 4)] = A[i]",
    "A[ix[i], 0] = A[i, 1]\nA[i, 1] = 0",
    "xs[i][0] = xs[i - 1][0]",
    "B[i * k] = B[i * k + 3]",
    "u = B[i:i + 2]\nu[1] = 3",
    "u = A[i:]\nu[0, 0] = 2\nu[1, 0] = 3",
    "u = A.T\nu[i, 0] = A[0, i + 1]",
    "B[i + int(x * 2)] = B[i + 2 * int(x)]",
    "for j in range(5):\n    A[i, 5] = A[i - 1, :j - 1].sum()",
    "for j in range(5):\n    A[i, 5] = A[i - 1, j - 9::2].sum()",
    "memoryview(B)[i] = B[i + 1]",
]

INDEPENDENT = [
    "t = 2 * i\nB[t] = B[t + 1]",
    "t = i\nt += 1\nB[t] = B[t] + 1",
    "for j in range(3):\n    t = 3 * i + j\n    B[t] = B[t] + j",
    "for j in range(3):\n    B[3 * i + j] = 1",
    "B[i] = sum(B[i] + j for j in range(2))",
    "if i % 2 == 0:\n    B[i] = B[i + 1]",
    "if i % 2:\n    continue\nB[i] = B[i + 1]",
    "B[i] = B[i + 100] if i < 50 else 0",
    "for j in range(3 * i, 3 * i + 3):\n    B[j] = B[j] + 1",
    "A[i % 4, i // 4] = A[i % 4, i // 4] + i",
    "A[i // 3][i % 3] = A[i // 3][i % 3] + 1",
    "B[3 * i:3 * i + 3] = B[3 * i]",
    "u = B[2 * i:2 * i + 2]\nu[:] = 3",
    "for j in range(i):\n    A[i, j] = A[i, i + j]",
    "for j in range(n):\n    if j == i:\n        continue\n    A[i, j] = A[i, i]",
    "for j in reversed(range(3)):\n    B[3 * i + j] = B[3 * i + j] + j",
    "B[n - 1 - i] = B[n - 1 - i] + i",
    "B[-1 - i] = i",
    "row = A[i]\nfor j in range(3):\n    row[j] = row[j] + j",
    "A[i, 1:] = A[i, :-1]",
    "A[:, i] = A[:, i] + 1",
    "for j, v in enumerate(ix):\n    A[i, j] = A[i, j] + v",
    "B[i + int(x)] = B[i + int(x)] + 1",
    "A[i, 1::2] = A[i - 1, ::2]",
    "for j in range(5):\n    A[i, 5] = A[i - 1, :j].sum()",
]


def text_of(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("body", DEPENDENT)
def test_refused(body: str) -> None:
    [(plan, findings)] = results_of(text_of(body))
    assert plan is None
    assert findings


@pytest.mark.parametrize("body", INDEPENDENT)
def test_taken(body: str) -> None:
    [(plan, findings)] = results_of(text_of(body))
    assert plan is not None, findings
    assert not plan.ordered
