"""Self-scheduling, pure: how many iterations a rank that has run out takes next.

A rule (`rule.Rule`, by name in `table`) says how large the next chunk is, from what is left and, where it
adapts, from what chunks have taken so far (`statistics`); `rule.next_chunk` bounds it: at least one unit,
never more than is left. `rules` has the rules that take no measurements within the loop, `adaptive` those
that do. Rules that need no measurements and treat ranks alike also give chunks by index
(`rule.ChunkSequence`), so that one fetch-and-add of a counter deals, without a master. `scheduler` holds the
state for a master, and deals by work where iterations do not cost the same.
"""
