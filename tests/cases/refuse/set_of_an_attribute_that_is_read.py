# expect: DLB406 16:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
class Graph:
    def __init__(self):
        self.found = set()


graph = Graph()
# dlb: parallel
for i in range(n):
    graph.found.add(len(graph.found))
