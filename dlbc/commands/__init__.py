"""The commands of `dlbc`: a module each, by its name, with `add_arguments` and `run`.

`run` gives the exit status: 0 done; 1 the program has errors, or an overwrite was refused; 2 wrong usage, an
unreadable file, an output that cannot be written, no mpiexec. `witness` has 1 also where it found a conflict;
`run` and `calibrate` otherwise return the program's own status. What a command needs besides its options it
imports when it runs: asking for its options costs nothing. `arguments` has the options that several share,
`show` what commands print, `programs` how they take a program.
"""
