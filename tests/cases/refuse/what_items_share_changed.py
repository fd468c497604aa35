# expect: DLB309 16:5, DLB309 19:5, DLB309 22:5
import numpy as np


class Node:
    total = 0

    def __init__(self, value):
        self.value = value


nodes = [Node(k) for k in range(8)]
rows = np.zeros((8, 3))
# dlb: parallel
for node in nodes:
    node.__class__.total += 1
# dlb: parallel
for row in rows:
    row.base[0, 0] = 1
# dlb: parallel
for i in range(8):
    nodes[i].__class__.total += nodes[i].value
print(Node.total, rows)
