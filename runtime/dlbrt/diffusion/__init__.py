"""Parabolic load balancing: work diffuses between neighbours until all have the same.

Heirich and Taylor, "A Parabolic Load Balancing Method" (Caltech CS-TR-94-13, 1994). `relaxation` is one
step, `neighbourhood` who is whose neighbour in a run and which step they take, `uneven` a step among ranks of
different speeds, as one of them takes its part. The method on whole meshes and on graphs, and the paper's
experiments, are in `samples/papers/heirich`. Pure, as all of the core.
"""
