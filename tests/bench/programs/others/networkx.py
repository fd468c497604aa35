import sys

import networkx as nx

size = int(sys.argv[1]) if len(sys.argv) > 1 else 150
G = nx.gnm_random_graph(size, 4 * size, seed=7)
for i, (a, b) in enumerate(G.edges()):
    G[a][b]["weight"] = 1 + (i * 37 % 11)
nodes = list(G)
e = nx.effective_size(G, nodes=nodes, weight="weight")
print("effective size", list(e.items())[:4], repr(sum(e.values())))
c = nx.constraint(G, nodes=nodes, weight="weight")
print("constraint", list(c.items())[:4], repr(sum(c.values())))
c = nx.constraint(G.to_directed(), nodes=nodes)
print("directed", repr(sum(c.values())))
