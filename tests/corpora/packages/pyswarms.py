"""Particle swarms (pyswarms: backend.topology, utils.search, backend.operators, single.GlobalBestPSO)."""

import numpy as np


class Swarm:
    """Positions and the best of each particle so far."""

    def __init__(self, rng, particles, dimensions):
        self.position = rng.random((particles, dimensions))
        self.velocity = np.zeros((particles, dimensions))
        self.pbest_pos = self.position.copy()
        self.pbest_cost = np.full(particles, np.inf)


def sphere(x):
    return float((x**2).sum())


def evaluate(swarm, objective):
    """compute_objective_function over the particles."""
    costs = np.empty(len(swarm.position))
    # dlb: parallel, BLOCK
    for i in range(len(costs)):
        costs[i] = objective(swarm.position[i])
    # dlb: parallel, BLOCK
    for i in range(len(costs)):
        if costs[i] < swarm.pbest_cost[i]:
            swarm.pbest_cost[i] = costs[i]
            swarm.pbest_pos[i] = swarm.position[i]
    return costs


def best_of_neighbours(swarm, neighbours):
    """Ring and Random.compute_gbest: the best neighbour of each particle, in lists of any lengths."""
    best = np.empty(len(neighbours), dtype=int)
    # dlb: parallel, BLOCK
    for i in range(len(neighbours)):
        best[i] = neighbours[i][swarm.pbest_cost[neighbours[i]].argmin()]
    return swarm.pbest_pos[best], np.min(swarm.pbest_cost[best])


def choose_neighbours(rng, particles, count):
    """Random.__compute_neighbors: each particle draws from the generator of all."""
    matrix = np.identity(particles, dtype=int)
    # Not legal: each iteration draws from where the one before left the generator.
    # dlb: parallel, BLOCK
    for i in range(particles):
        others = np.setdiff1d(np.arange(particles), np.array([i]))
        matrix[i, rng.choice(others, count, replace=False)] = 1
    return matrix


def optimize(swarm, objective, passes):
    """GlobalBestPSO.optimize: passes that each begin where the one before ended."""
    history = []
    # Not legal: each pass moves the swarm of the pass before.
    # dlb: parallel, BLOCK
    for i in range(passes):
        costs = evaluate(swarm, objective)
        best = swarm.pbest_pos[np.argmin(swarm.pbest_cost)]
        swarm.velocity = 0.7 * swarm.velocity + 0.5 * (best - swarm.position) / (i + 1)
        swarm.position = swarm.position + swarm.velocity
        history.append(costs.min())
    return history


def search(options, seeds):
    """SearchBase.search: a swarm for each combination of options; the first best one is kept."""
    best_score, best_options = np.inf, None
    # dlb: parallel, BLOCK
    for i, option in enumerate(options):
        rng = np.random.default_rng(seeds[i])
        score = min(sphere(rng.random(3) * option["c1"] + option["w"]) for _ in range(5))
        if score < best_score:
            best_score, best_options = score, option
    return best_score, best_options


rng = np.random.default_rng(3)
swarm = Swarm(rng, 9, 3)
print(evaluate(swarm, sphere).tolist())
adjacency = choose_neighbours(rng, 9, 3)
neighbours = [row.nonzero()[0] for row in adjacency]
positions, cost = best_of_neighbours(swarm, neighbours)
print(positions.tolist(), cost)
print(optimize(swarm, sphere, 4), swarm.position.tolist())
print(search([{"c1": c, "w": w} for c in (0.5, 0.3, 0.7) for w in (0.1, 0.4)], list(range(6))))
