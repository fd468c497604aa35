"""``python -m dlbc``: the same as the command ``dlbc``."""

import sys

from dlbc.cli import main

if __name__ == "__main__":
    sys.exit(main())
