"""Control systems (control: statesp, timeresp, modelsimp, freqplot, optimal, descfcn, nlsys, xferfcn)."""

import warnings

import numpy as np


class StateSpace:
    """The matrices of a linear system."""

    def __init__(self, a, b, c, d):
        self.A, self.B, self.C, self.D = a, b, c, d

    def horner(self, x_arr):
        """The transfer function at many points, infinite at poles."""
        out = np.empty((len(self.C), self.B.shape[1], len(x_arr)), dtype=complex)
        # dlb: parallel, BLOCK
        for idx, x in enumerate(x_arr):
            try:
                xr = np.linalg.solve(x * np.eye(len(self.A)) - self.A, self.B)
                out[:, :, idx] = self.C @ xr + self.D
            except np.linalg.LinAlgError:
                out[:, :, idx] = complex(np.inf, np.nan)
        return out

    def forced_response(self, steps, x0):
        """timeresp.forced_response without inputs: a state after another."""
        xout = np.zeros((len(x0), steps))
        xout[:, 0] = x0
        # Not legal: each state is computed from the one before.
        # dlb: parallel, BLOCK
        for i in range(1, steps):
            xout[:, i] = self.A @ xout[:, i - 1]
        return xout


def block_hankel(y, m, n):
    """modelsimp._block_hankel."""
    q, p, _ = y.shape
    yy = y.transpose(0, 2, 1)
    h = np.zeros((q * m, p * n))
    # dlb: parallel, BLOCK
    for r in range(m):
        new_row = yy[:, r : r + n, :]
        h[q * r : q * (r + 1), :] = new_row.reshape((q, p * n))
    return h


def indent(contour, poles, radius):
    """freqplot.nyquist_response: points of the contour are moved away from poles."""
    # dlb: parallel, BLOCK
    for i, s in enumerate(contour):
        p = poles[(np.abs(poles - s)).argmin()]
        if abs(s - p) < radius:
            offset = np.sqrt(radius**2 - (s - p).imag ** 2) - (s - p).real
            if p.real <= 0:
                contour[i] += offset
            elif p.real > 0:
                contour[i] -= offset
            else:
                warnings.warn("unexpected pole location")


def constraints(times, states, inputs, functions):
    """optimal.OptimalControlProblem._constraint_function: values in a list, by kind of constraint."""
    value = []
    # dlb: parallel, BLOCK
    for i, t in enumerate(times):
        for kind, fun, low, high in functions:
            if np.all(low == high):
                continue
            elif kind == "linear":
                value.append(fun @ np.hstack([states[:, i], inputs[:, i]]))
            elif kind == "nonlinear":
                value.append(fun(states[:, i], inputs[:, i]))
            else:
                raise TypeError(f"unknown constraint type {kind}")
    return np.hstack(value)


def intersections(n_vals, h_vals):
    """descfcn.describing_function_response: where the segments of two curves cross."""
    positions, found = [], []
    # dlb: parallel, BLOCK
    for i in range(n_vals.size - 1):
        for j in range(h_vals.size - 1):
            first, second = n_vals[i + 1] - n_vals[i], h_vals[j + 1] - h_vals[j]
            across = first.real * second.imag - first.imag * second.real
            if across == 0:
                continue
            gap = h_vals[j] - n_vals[i]
            s = (gap.real * second.imag - gap.imag * second.real) / across
            if 0 <= s <= 1:
                positions.append(n_vals[i] + s * first)
                found.append((i, j))
    return positions, found


def outputs(times, solution, ufun, out):
    """nlsys.input_output_response: inputs and outputs at each time."""
    u, y = np.zeros((2, len(times))), np.zeros((1, len(times)))
    # dlb: parallel, BLOCK
    for i, t in enumerate(times):
        u[:, i] = ufun(t)
        y[:, i] = out(t, solution[:, i], u[:, i])
    return u, y


def multiply(first, second):
    """xferfcn.TransferFunction.__mul__: an entry at a time, with summands kept in one list."""
    rows, inner, columns = len(first), len(second), len(second[0])
    result = [[np.zeros(1) for _ in range(columns)] for _ in range(rows)]
    summand = [[] for _ in range(inner)]
    # dlb: parallel, BLOCK, private(summand)
    for i in range(rows):
        for j in range(columns):
            for k in range(inner):
                summand[k] = np.polymul(first[i][k], second[k][j])
                result[i][j] = np.polyadd(result[i][j], summand[k])
    return result


rng = np.random.default_rng(5)
system = StateSpace(np.diag([0.5, -1.0, 0.25]), rng.random((3, 2)), rng.random((2, 3)), np.zeros((2, 2)))
print(system.horner(1j * np.arange(6) + 0.5).tolist())
print(system.forced_response(5, np.ones(3)).tolist())
print(block_hankel(rng.random((2, 3, 9)), 5, 4).tolist())
contour = 1j * np.linspace(0, 3, 12)
indent(contour, np.array([1j, -1 + 0j, 2j]), 0.4)
print(contour.tolist())
kinds = [
    ("linear", rng.random((2, 5)), 0, 1),
    ("equal", None, 1, 1),
    ("nonlinear", lambda x, u: x @ x + u, 0, 1),
]
print(constraints(np.arange(7), rng.random((3, 7)), rng.random((2, 7)), kinds).tolist())
curve = np.exp(1j * np.linspace(0, 3, 8))
print(intersections(curve, curve.conj() + 0.3j))
print(
    [
        part.tolist()
        for part in outputs(
            np.arange(6), rng.random((3, 6)), lambda t: [t, t * t], lambda t, x, u: x @ x + u[0]
        )
    ]
)
print(
    [
        [entry.tolist() for entry in row]
        for row in multiply([[[1, 2], [3]], [[1], [2, 1]], [[4], [5]]], [[[1, 1]], [[2, 0]]])
    ]
)
