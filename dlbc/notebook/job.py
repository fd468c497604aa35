"""``python -m dlbc.notebook.job JOB``: the process between a notebook's kernel and the ranks.

It handles signals as `dlbc run` does, so that the kernel's own handlers stay as they are.
"""

from __future__ import annotations

import json
import sys

from dlbc.commands.run import launch


def main() -> int:
    """The exit status of the job: launcher, words and settings stand in the argument, as JSON."""
    start, words, settings = json.loads(sys.argv[1])
    return launch(start, words, settings)


if __name__ == "__main__":
    sys.exit(main())
