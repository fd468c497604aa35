"""What five papers report, done again: a folder for each, with what only that needs; the rest is in `dlbrt`.

`reproduce` drives them: a folder's `chapter` finds what its paper prints, `catalogue` has the list of printed
numbers, and `markdown` and `plots` make docs/papers.md of what was found (`findings`).
"""
