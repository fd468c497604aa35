"""Fits of parameters (lmfit: model, minimizer, confidence)."""

import copy

import numpy as np


class Parameter:
    """A value with its error."""

    def __init__(self, value, stderr):
        self.value = value
        self.stderr = stderr
        self.correl = None


def model(parameters, x):
    return parameters["a"].value * np.exp(-parameters["b"].value * x) + parameters["c"].value


def jacobian_in_place(parameters, names, x):
    """eval_uncertainty: each parameter of one set is moved and put back."""
    result = np.zeros((len(names), len(x)))
    moved = copy.deepcopy(parameters)
    # Not legal: each iteration moves a parameter of the one set that all iterations evaluate.
    # dlb: parallel, BLOCK
    for i in range(len(names)):
        value = moved[names[i]].value
        step = moved[names[i]].stderr / 3
        moved[names[i]].value = value + step
        above = model(moved, x)
        moved[names[i]].value = value - step
        below = model(moved, x)
        moved[names[i]].value = value
        result[i] = (above - below) / (2 * step)
    return result


def jacobian(parameters, names, x):
    """The same with a set of its own for each parameter."""
    result = np.zeros((len(names), len(x)))
    # Legal, but what a deep copy holds is not known to be new once a function has had it
    # dlb: parallel, BLOCK
    for i in range(len(names)):
        moved = copy.deepcopy(parameters)
        value = moved[names[i]].value
        step = moved[names[i]].stderr / 3
        moved[names[i]].value = value + step
        above = model(moved, x)
        moved[names[i]].value = value - step
        result[i] = (above - model(moved, x)) / (2 * step)
    return result


def variance(derivatives, covariance):
    """eval_uncertainty: the variance of the model at each point."""
    result = np.zeros(derivatives.shape[1])
    # dlb: parallel, BLOCK
    for i in range(len(covariance)):
        for j in range(len(covariance)):
            result += derivatives[i] * derivatives[j] * covariance[i, j]
    return result


def set_errors(parameters, names, covariance):
    """Minimizer._calculate_uncertainties_correlations: the parameters of the result, by name."""
    # Legal, but `parameters` is found to be a dictionary, so that rank 0 runs the loop alone
    # dlb: parallel, BLOCK
    for i, name in enumerate(names):
        parameter = parameters[name]
        parameter.stderr = float(np.sqrt(covariance[i, i]))
        parameter.correl = {}
        for j, other in enumerate(names):
            if j != i:
                bound = parameter.stderr * np.sqrt(covariance[j, j])
                parameter.correl[other] = float(covariance[i, j] / bound)


def brute(grid, x, data):
    """Minimizer.brute: candidates on a grid with their squared residuals."""
    candidates = []
    # dlb: parallel, BLOCK
    for a, b in grid:
        residual = a * np.exp(-b * x) - data
        candidates.append((float(residual @ residual), (a, b)))
    return sorted(candidates)[:3]


def confidence_2d(xs, ys, x, data):
    """conf_interval2d: the probability at each point of a grid."""
    out = np.zeros((len(ys), len(xs)))
    # dlb: parallel, BLOCK
    for j in range(len(ys)):
        for i in range(len(xs)):
            residual = xs[i] * np.exp(-ys[j] * x) - data
            out[j, i] = residual @ residual
    return out


def intervals(names, values, x, data):
    """ConfidenceInterval.calc_all_ci: an entry for each parameter, with a function and its cache inside."""
    out = {}
    # dlb: parallel, BLOCK
    for name in names:
        cache = {}

        def probability(value):
            if value not in cache:
                cache[value] = float(np.sum((value * x - data) ** 2))
            return cache[value]

        found = []
        for sign in (-1, 1):
            edge = values[name]
            while probability(edge) < 12.0 and abs(edge) < 50:
                edge = edge + sign * 0.25
            found.append(edge)
        out[name] = (*found, len(cache))
    return out


rng = np.random.default_rng(4)
names = ["a", "b", "c"]
parameters = {name: Parameter(1.0 + k, 0.1 * (k + 1)) for k, name in enumerate(names)}
x = np.linspace(0, 2, 8)
data = model(parameters, x) + 0.01 * rng.random(8)
derivatives = jacobian_in_place(parameters, names, x)
print(derivatives.tolist(), jacobian(parameters, names, x).tolist())
covariance = np.linalg.inv(derivatives @ derivatives.T)
print(variance(derivatives, covariance).round(9).tolist())  # several updates of an iteration go together
set_errors(parameters, names, covariance)
print([(p.stderr, p.correl) for p in parameters.values()])
print(brute([(a / 2, b / 2) for a in range(1, 5) for b in range(4)], x, data))
print(confidence_2d(np.linspace(0, 2, 5), np.linspace(0, 1, 6), x, data).tolist())
print(intervals(names, {"a": 0.5, "b": 1.0, "c": 2.0}, x, data))
