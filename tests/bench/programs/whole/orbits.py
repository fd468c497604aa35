"""Van der Pol oscillators by solve_ivp over parameters: python orbits.py COUNT."""

import sys

import numpy as np
from scipy.integrate import solve_ivp


def rhs(t, y, mu):
    return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


mus = np.linspace(0.1, 6.0, int(sys.argv[1]))
amplitude = np.zeros(len(mus))
evaluations = np.zeros(len(mus), dtype=int)
# dlb: parallel
for i, mu in enumerate(mus):
    sol = solve_ivp(rhs, (0.0, 40.0), [1.0, 0.0], args=(mu,), rtol=1e-6, atol=1e-9)
    late = sol.y[0, sol.t > 20.0]
    amplitude[i] = late.max()
    evaluations[i] = sol.nfev

print(f"{'mu':>8s} {'amplitude':>12s} {'evaluations':>12s}")
for i in range(0, len(mus), max(1, len(mus) // 10)):
    print(f"{mus[i]:8.3f} {amplitude[i]:12.8f} {evaluations[i]:12d}")
