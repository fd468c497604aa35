"""Examples of each command, for its help: the command line, and what it does."""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "transform": (
        ("dlbc transform heat.py", "write the parallel program heat_dlb.py"),
        ("dlbc transform src -o build/src", "write a whole directory, to be run in its place"),
    ),
    "check": (
        ("dlbc check .", "all annotated programs here and below"),
        ("dlbc check --format github src", "as annotations of a workflow of GitHub"),
    ),
    "explain": (
        ("dlbc explain heat.py", "what was decided on each loop, and why"),
        ("dlbc explain -n 8 --set n=1000 heat.py", "what 8 ranks would lose by each way to deal the loop"),
        ("dlbc explain --remarks missed heat.py", "what was not done, and why"),
        ("dlbc explain --html heat.py", "a page with the remarks beside the source"),
    ),
    "annotate": (
        (
            "dlbc annotate --set n=1000 heat.py",
            "loops that can be parallel, and what is in the way of the others",
        ),
        (
            "dlbc annotate --write --profile heat.py -- 1000",
            "by a run with the argument 1000; insert the comments",
        ),
    ),
    "rules": (
        ("dlbc rules DLB301", "the message, what to try, a program that has it, and the program mended"),
    ),
    "run": (
        ("dlbc run -n 4 heat.py 1000", "on 4 ranks, with the argument 1000"),
        ("dlbc run -n 4 --trace run.json -m app", "a module, with a trace for `dlbc report`"),
    ),
    "calibrate": (
        ("dlbc calibrate -n 4", "measure the network among 4 ranks"),
        ("dlbc calibrate -n 4 heat.py", "measure how fast each rank computes the loops of a program"),
    ),
    "doctor": (
        ("dlbc doctor -n 4", "whether 4 ranks start here, and what would slow them"),
        ("dlbc doctor -n 16 --hostfile hosts.txt", "the same on the hosts of a file"),
    ),
    "simulate": (
        ("dlbc simulate heat.py --ranks 4,256 --set n=1000", "a loop of a program under each strategy"),
        ("dlbc simulate --trace run.json --ranks 64", "a loop that was recorded, on more ranks"),
    ),
    "report": (
        ("dlbc report run.json", "write the page run.html"),
        ("dlbc report --format text run.json", "the same in words, on the terminal"),
    ),
    "witness": (("dlbc witness heat.py 10", "on small input"),),
    "verify": (
        ("dlbc verify heat.py 100", "20 parallel runs"),
        ("dlbc verify -n 2,4 --runs 5 --seed 7 heat.py 100", "5 runs on 2 and 4 ranks, which a seed repeats"),
    ),
    "completion": (
        ("dlbc completion bash > ~/.local/share/bash-completion/completions/dlbc", "for bash"),
        ("dlbc completion zsh > ~/.zfunc/_dlbc", "for zsh, with ~/.zfunc in fpath"),
        ("dlbc completion fish > ~/.config/fish/completions/dlbc.fish", "for fish"),
    ),
}
