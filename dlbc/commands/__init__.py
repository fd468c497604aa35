"""The commands of `dlbc`: a module or package each, under the command's name, with `add_arguments` and `run`.

`run` returns the exit status: 0 for success; 1 if the program has errors or an overwrite was refused; 2 for
wrong usage, an unreadable file, an output that cannot be written, or no mpiexec. `witness` also returns 1 if
it found a conflict; `run` and `calibrate` otherwise return the program's own status. What `check` needs
besides its options it imports when it runs, so that `--help` stays cheap. `common` has what several commands
share; `files` says which programs are meant, `verdicts` what a verdict is called.
"""
