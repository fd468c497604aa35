"""Temporary directories: the first one on a rank registers a callback for the exit, which is no change."""

import os
import tempfile

make = {"directory": tempfile.TemporaryDirectory}
sizes = [0] * 24
# dlb: parallel
for k in range(24):
    with make["directory"]() as directory:
        sizes[k] = k + len(os.listdir(directory))
print(sizes)
