"""Functional performance models: each rank's speed as a function of what it holds, and shares cut by them.

Clarke, Lastovetsky, Rychkov (Parallel Processing Letters, 2011). `points` are what passes measured;
`functions` are made of them, which `geometric` and `rootfinding` cut; `models` rounds the cuts to whole
units, `pass_balancer` decides after each pass whether to move data, and `ownership` keeps the shares of a
routine's loops. Pure, as all of the core.
"""
