"""Results as bits, for the drivers of packages."""

import hashlib

import numpy as np


def show(name, value):
    """Print an array, or what can be made one, by its type, its shape and a hash of its bytes."""
    array = np.ascontiguousarray(value)
    print(name, array.dtype, array.shape, hashlib.sha256(array.tobytes()).hexdigest()[:16])
