"""Swartz: domains cut into parts of equal work, by a formula for the work or by its measured density.

What a run needs of it is in `dlbrt.partition`. Here are the paper's own program (`sieve`), processors of
several types (`uneven`), domains of two dimensions (`planar`), and how the paper rounds, compresses and finds
one rank's bounds alone (`integer`, `density`, `newton`).
"""
