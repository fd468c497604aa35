"""Parabolic load balancing: work diffuses between neighbours until all have the same. Pure.

Heirich and Taylor, "A Parabolic Load Balancing Method" (Caltech CS-TR-94-13, 1994). `relaxation` is one step,
`neighbourhood` says which ranks are neighbours and which step they take, `uneven` is one rank's part of a
step among ranks of different speeds. The method on whole meshes and on graphs, and the paper's experiments,
are in `samples/papers/heirich`.
"""
