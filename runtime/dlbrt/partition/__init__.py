"""The first shares of a loop: by what is known of its iterations before it runs, or by earlier measurements.

Pure, as all of the core. `newton` cuts cumulative work, `integer` per-iteration work, `density` measured
work, and `proportional` deals by the rates of processors; `imbalance` says how good a cut was, `profiling`
when to cut again. `initial` deals a loop by all of these; `costs` turns the clause `cost` into `known` work.
The rest of the papers is in `samples/papers`.
"""
