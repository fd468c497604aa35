"""Chunk functions: the iterations of a `jit` loop as a function that is compiled for native speed.

`plan_chunk` takes the user's body to a function over ``range(first, last, step)`` that does what Python
does, bit for bit, or says at which iteration it cannot know (`lower_body`). Subscripts are proved in range
before a chunk begins (`extents`). Where nothing of the body can fail, `restructure` finds a better order
for its loops.
"""
