"""Heat in a plate: every point goes towards the mean of its four neighbours, step by step.

    v[i, j] = u[i, j] + D (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4 u[i, j])        D = dt / dx^2

The plate is cold but for its upper edge, which is kept hot, and a hot bar in its middle; the edges stay as
they are. Two fields take turns: one is read, the other is written.

The fields stay where they are from step to step; what travels is a row to each neighbour.

Cost: every row costs the same.

    python samples/heat2d.py [ROWS [COLUMNS [STEPS]]] [--png FILE]      a picture only if FILE is given
"""

import argparse
import struct
import zlib
from pathlib import Path

import numpy as np

DIFFUSION = 0.24  # above 0.25 the scheme is unstable
COLD, HOT = 0.0, 1.0


def plate(rows, columns):
    """The field at the beginning."""
    u = np.full((rows, columns), COLD)
    u[0] = HOT
    u[rows // 2 : rows // 2 + rows // 10, columns // 4 : columns - columns // 4] = HOT
    return u


def diffuse(u, steps, every):
    """The field after a number of steps; now and then, the temperature in the middle."""
    rows, columns = u.shape
    v = u.copy()
    # dlb: iterate
    for step in range(1, steps + 1):
        # dlb: parallel
        for i in range(1, rows - 1):
            across = u[i, :-2] + u[i, 2:]
            along = u[i - 1, 1:-1] + u[i + 1, 1:-1]
            v[i, 1:-1] = u[i, 1:-1] + DIFFUSION * (across + along - 4.0 * u[i, 1:-1])
        u, v = v, u
        if step % every == 0:
            print(f"step {step}: {u[rows // 2, columns // 2]:.6f} in the middle")
    return u


def chunk(kind, content):
    """A piece of a PNG file: length, kind, content, check sum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def write_png(path, grey):
    """An 8-bit grey picture."""
    height, width = grey.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    lines = b"".join(b"\0" + row.tobytes() for row in grey)  # each begins with its filter: none
    pieces = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(lines)), chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(pieces))


def main():
    parser = argparse.ArgumentParser(description="let heat spread in a plate")
    parser.add_argument("rows", type=int, nargs="?", default=300)
    parser.add_argument("columns", type=int, nargs="?", default=400)
    parser.add_argument("steps", type=int, nargs="?", default=500)
    parser.add_argument("--png", type=Path)
    options = parser.parse_args()

    u = plate(options.rows, options.columns)
    u = diffuse(u, options.steps, max(1, options.steps // 5))
    if options.png:
        write_png(options.png, np.round(255 * u).astype(np.uint8))

    print(f"{options.rows}x{options.columns} points, {options.steps} steps")
    print(f"mean temperature: {u.mean():.9f}")
    print(f"crc32 of the field: {zlib.crc32(u.tobytes()):08x}")


if __name__ == "__main__":
    main()
