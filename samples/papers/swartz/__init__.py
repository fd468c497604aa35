"""Swartz: domains cut into parts of equal work, by a formula for the work or by its measured density.

What a run needs of it is in `dlbrt.partition`. Here are the paper's own program (`sieve`), and what only
reproduces the paper: the boundaries of processors of several types (`uneven`; a run has the same cuts by
`--weights 1*7,3*4`), domains of two dimensions (`planar`; a run cuts a loop over cells within rows, and deals
no blocks of rows and columns), and how the paper rounds, compresses and finds one rank's bounds alone
(`integer`, `density`, `newton`).
"""
