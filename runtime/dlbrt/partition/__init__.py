"""Where a loop's iterations are cut before anything is measured, and where its measurements say to cut.

Pure, as all of the core. Cumulative work is cut by `newton`, per-iteration work by `integer`, measured
work by `density`; `ciegis` knows processors that differ, `estimates` what a static distribution will cost,
`imbalance` how good a cut was. `initial` deals a loop by all that is known of it: `costs` makes `known` work
of what its clause says, which `calling` evaluates. What else their papers have is in `samples/papers`.
"""
