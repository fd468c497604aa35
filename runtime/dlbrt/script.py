"""``python -m dlbrt.script GENERATED ORIGINAL ARGS...``: run a generated program under its original's name.

``dlbc run`` keeps the generated file in a temporary directory. The program still sees the original's
``sys.argv[0]`` and ``__file__``, finds the modules beside the original, and has tracebacks in its terms.
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path

from dlbrt.observe.linemap import register


def main() -> None:
    """Run the program as ``__main__``."""
    generated, source, *arguments = sys.argv[1:]
    register(generated, source)
    sys.argv[:] = [source, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(source))
    program = types.ModuleType("__main__")
    program.__dict__.update(__file__=source, __builtins__=__builtins__)
    sys.modules["__main__"] = program
    exec(compile(Path(generated).read_bytes(), generated, "exec"), program.__dict__)


if __name__ == "__main__":
    main()
