import sys

from orbits.cli import main

sys.exit(main(sys.argv[1:]))
