"""Self-scheduling: how many iterations a rank that has run out takes next.

Pure, as all of the core. A rule (`rule.Rule`, by name in `table`) says how large the next chunk is, from
what is left and, where it adapts, from what chunks have taken so far (`measured`); `rule.take` makes it a
chunk: at least one unit, never more than is left. The rules: `fixed` (SS, FSC, mFSC), `guided` (GSS),
`trapezoid` (TSS), `factoring` (FAC, FAC2), `weighted` (WF, AWF), `adaptive` (AWF_B, _C, _D, _E),
`adaptive_factoring` (AF). Those that need no measurements and treat ranks alike exist by the index of the
chunk as well (`sequence`), so that one fetch-and-add of a counter deals, without a master. `dealer` holds
the state where there is one, and deals by work where iterations do not cost the same.
"""
