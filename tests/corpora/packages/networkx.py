"""Graphs as dictionaries of neighbours (networkx: centrality, cluster, triads, bipartite, ...)."""

from collections import Counter, deque

import numpy as np


def distances(graph, source):
    seen, queue = {source: 0}, deque([source])
    while queue:
        v = queue.popleft()
        for w in graph[v]:
            if w not in seen:
                seen[w] = seen[v] + 1
                queue.append(w)
    return seen


def closeness(graph):
    """closeness_centrality: an entry for each node."""
    result = {}
    # dlb: parallel, BLOCK
    for n in graph:
        paths = distances(graph, n)
        total = sum(paths.values())
        value = 0.0
        if total > 0.0 and len(graph) > 1:
            value = (len(paths) - 1.0) / total
            value *= (len(paths) - 1.0) / (len(graph) - 1)
        result[n] = value
    return result


def betweenness(graph):
    """betweenness_centrality: Brandes' algorithm, whose helpers add to a dictionary of all sources."""
    result = dict.fromkeys(graph, 0.0)
    # Legal, but values of a dictionary whose keys come from `graph` are taken for parts of it
    # dlb: parallel, BLOCK
    for s in graph:
        order, before, paths, far = [], {v: [] for v in graph}, dict.fromkeys(graph, 0.0), {s: 0}
        paths[s] = 1.0
        queue = deque([s])
        while queue:
            v = queue.popleft()
            order.append(v)
            for w in graph[v]:
                if w not in far:
                    queue.append(w)
                    far[w] = far[v] + 1
                if far[w] == far[v] + 1:
                    paths[w] += paths[v]
                    before[w].append(v)
        share = dict.fromkeys(order, 0.0)
        while order:
            w = order.pop()
            for v in before[w]:
                share[v] += paths[v] / paths[w] * (1 + share[w])
            if w != s:
                result[w] += share[w]
    return result


def harmonic(graph):
    """harmonic_centrality: each source adds to the nodes that it reaches."""
    result = {u: 0 for u in graph}
    # dlb: parallel, BLOCK
    for v in graph:
        for u, d in distances(graph, v).items():
            if d != 0:
                result[u] += 1 / d
    return result


def triangles(graph):
    """_triangles_and_degree_iter: a generator, which a loop that yields cannot be."""
    # Not legal: `yield` gives out one result after the other.
    # dlb: parallel, BLOCK
    for v, neighbours in graph.items():
        vs = set(neighbours) - {v}
        shared = Counter(len(vs & (set(graph[w]) - {w})) for w in vs)
        yield (v, len(vs), sum(k * count for k, count in shared.items()))


def clustering(graph):
    """The same into a list."""
    result = []
    # dlb: parallel, BLOCK
    for v, neighbours in graph.items():
        vs = set(neighbours) - {v}
        shared = Counter(len(vs & (set(graph[w]) - {w})) for w in vs)
        result.append((v, len(vs), sum(k * count for k, count in shared.items())))
    return result


def triads(graph):
    """triadic_census: counts by kind in a dictionary."""
    census = dict.fromkeys(("none", "path", "triangle"), 0)
    nodes = list(graph)
    # dlb: parallel, BLOCK
    for i, v in enumerate(nodes):
        for j in range(i + 1, len(nodes)):
            for k in range(j + 1, len(nodes)):
                links = (nodes[j] in graph[v]) + (nodes[k] in graph[v]) + (nodes[k] in graph[nodes[j]])
                if links == 3:
                    census["triangle"] += 1
                elif links == 2:
                    census["path"] += 1
                else:
                    census["none"] += 1
    return census


def efficiency(graph):
    """global_efficiency: a sum over all pairs."""
    total = 0
    # dlb: parallel, BLOCK
    for source in graph:
        for target, d in distances(graph, source).items():
            if d > 0:
                total += 1 / d
    return round(total / (len(graph) * (len(graph) - 1)), 12)  # several updates of an iteration go together


def three_paths(graph):
    """bipartite.cluster._threepaths."""
    paths = 0
    # dlb: parallel, BLOCK
    for v in graph:
        for u in graph[v]:
            for w in set(graph[u]) - {v}:
                paths += len(set(graph[w]) - {v, u})
    return paths / 2


def second_order(p):
    """second_order_centrality: a system for each column."""
    n = len(p)
    m = np.empty([n, n])
    # dlb: parallel, BLOCK
    for i in range(n):
        q = p.copy()
        q[:, i] = 0
        m[:, i] = np.linalg.solve(np.identity(n) - q, np.ones([n, 1])[:, 0])
    return m


def laplacian(matrix, nodes):
    """laplacian_centrality: the energy of the matrix without each node."""
    result = {}
    full = np.sum(matrix**2)
    # Legal, but `others` is not known to be a list, which as a subscript makes `rest` a copy
    # dlb: parallel, BLOCK
    for i, node in enumerate(nodes):
        others = list(np.arange(matrix.shape[0]))
        others.remove(i)
        rest = matrix[others, :][:, others]
        diagonal = matrix.diagonal() - abs(matrix[:, i])
        np.fill_diagonal(rest, diagonal[others])
        energy = np.sum(rest**2) if len(others) > 0 else 0.0
        result[node] = float(full - energy)
    return result


def project(graph, nodes):
    """bipartite.weighted_projected_graph: edges are added to a graph, at both of their ends."""
    result = {v: {} for v in nodes}
    # Not legal: the weight of an edge is stored under both of its ends, by the iterations of both.
    # dlb: parallel, BLOCK
    for u in nodes:
        near = set(graph[u])
        for v in sorted({n for w in near for n in graph[w]} - {u}):
            result[u][v] = len(near & set(graph[v]))
            result[v][u] = result[u][v]
    return result


def relabel(graph, mapping):
    """The edges of each node, in a graph of dictionaries of its own."""
    result = {}
    # dlb: parallel, BLOCK
    for v in graph:
        result[mapping[v]] = {mapping[w]: 1 for w in graph[v]}
    return result


edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7), (1, 6)]
graph = {v: [] for v in range(9)}
for u, v in edges:
    graph[u].append(v)
    graph[v].append(u)
print(closeness(graph), betweenness(graph), harmonic(graph))
print(list(triangles(graph)), clustering(graph), triads(graph), efficiency(graph), three_paths(graph))
rows = np.array([[(w in graph[v]) / 4 for w in graph] for v in graph])
print(second_order(rows).tolist(), laplacian(np.diag(rows.sum(axis=0)) - rows, list(graph)))
bipartite = {0: ["a", "b"], 1: ["b"], 2: ["a", "c"], 3: ["b", "c"], "a": [0, 2], "b": [0, 1, 3], "c": [2, 3]}
print(project(bipartite, [0, 1, 2, 3]), relabel(graph, {v: f"n{v}" for v in graph}))
