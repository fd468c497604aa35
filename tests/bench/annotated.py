"""A long program with many annotated loops of the usual kinds, for timing the compiler."""

from __future__ import annotations

__all__ = ["annotated_program"]

#: Functions of one parallel loop each; `{k}` numbers them.
_LOOPS = (
    """
def multiply_{k}(X, Y, Z, n, m, r):
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(m):
            for k in range(r):
                Z[i, j] += X[i, k] * Y[k, j]
""",
    """
def relax_{k}(u, v, n, m):
    # dlb: parallel
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
""",
    """
def eliminate_{k}(A, n):
    for k in range(n - 1):
        # dlb: parallel
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            A[i, k] = factor
""",
    """
def scale_{k}(rows, n):
    # dlb: parallel
    for i in range(n):
        total = 0.0
        for x in rows[i]:
            total += x
        rows[i][0] = total
""",
    """
def sweep_{k}(u, n):
    # dlb: parallel
    for i in range(1, n - 1, 2):
        u[i] = 0.5 * (u[i - 1] + u[i + 1])
""",
)

_FILLER = """
def settings_{k}(name, values, limit=10):
    \"\"\"Sequential code between the loops.\"\"\"
    chosen = {{key: value for key, value in values.items() if value is not None}}
    if name in chosen and len(chosen) < limit:
        chosen[name] = sorted(chosen[name], key=lambda item: (item.kind, -item.weight))
    elif not chosen:
        raise ValueError(f"nothing is chosen for {{name!r}}")
    return chosen
"""


def annotated_program(loops: int, lines: int) -> str:
    """A program with that many loops and about that many lines."""
    parts = ["import numpy as np\n"]
    parts += [_LOOPS[k % len(_LOOPS)].replace("_{k}", f"_{k}") for k in range(loops)]
    missing = lines - sum(part.count("\n") for part in parts)
    parts += [_FILLER.format(k=k) for k in range(max(0, missing) // _FILLER.count("\n"))]
    return "\n".join(part.strip("\n") + "\n" for part in parts)
