"""A contender compiled by Pythran with OpenMP, its annotated loops dealt dynamically.

    python by_pythran.py strict | shipped WORKLOAD SIZES...

The text is that of the workload. ``shipped`` takes the flags that Pythran sets, -O2 and -fno-math-errno among
them; ``strict`` optimises as far as the bits stay: see `STRICT`.
"""

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from peer import INITIAL, arguments, serve
from threads import text_with

STRICT = ("-O3", "-march=native", "-fno-fast-math", "-ffp-contract=off")


def exported(value):
    """The type of a value as Pythran writes it."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}[{','.join(':' * value.ndim)}]"
    return type(value).__name__


def compiled(name, flags, place):
    """The workload's function."""
    values = INITIAL[name](8, 3)[:] if INITIAL[name].__code__.co_argcount == 2 else INITIAL[name](8)
    export = f"#pythran export {name}({', '.join(exported(value) for value in values)})\n"
    loop = r"\1#omp parallel for schedule(dynamic)\n\2range"
    text = text_with(name, loop, f"{export}import math\nimport numpy as np\n\n\n")
    source = Path(place, f"pythran_{name}.py")
    source.write_text(text, encoding="utf-8")
    library = source.with_suffix(".so")
    command = [sys.executable, "-m", "pythran.run", "-fopenmp", *flags, str(source), "-o", str(library)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    source.unlink()
    sys.path.insert(0, place)
    return getattr(importlib.import_module(f"pythran_{name}"), name)


def main():
    contender, name, sizes = arguments()
    with tempfile.TemporaryDirectory() as place:
        serve(compiled(name, STRICT if contender == "strict" else (), place), name, sizes)


if __name__ == "__main__":
    main()
