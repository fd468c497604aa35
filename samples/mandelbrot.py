"""The Mandelbrot set as a picture: how long z -> z*z + c stays near the origin, pixel by pixel.

Cost: irregular. A row through the set takes the limit of steps at most of its pixels, a row beside it
a few; neither can be told from the row's number.

    python samples/mandelbrot.py [WIDTH [HEIGHT [LIMIT]]] [--png FILE]

The picture is written beside the program, with the suffix .png, unless FILE is given.
"""

import argparse
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

LEFT, RIGHT, BOTTOM, TOP = -2.25, 0.75, -1.125, 1.125


def escape_time(x, y, limit):
    """Steps until c = x + iy leaves the circle of radius 2, at most limit."""
    zx = zy = 0.0
    for step in range(limit):
        xx = zx * zx
        yy = zy * zy
        if xx + yy > 4.0:
            return step
        zy = 2.0 * zx * zy + y
        zx = xx - yy + x
    return limit


def centres(low, high, count):
    """The centres of count equal cells between low and high."""
    return [low + (high - low) * (2 * k + 1) / (2 * count) for k in range(count)]


def mandelbrot(width, height, limit):
    """The escape times of a height x width picture."""
    columns = centres(LEFT, RIGHT, width)
    times = np.zeros((height, width), dtype=np.int32)
    # dlb: parallel
    for row, y in enumerate(centres(TOP, BOTTOM, height)):
        for column in range(width):
            times[row, column] = escape_time(columns[column], y, limit)
    return times


def shades(times, limit):
    """Grey values: the set black, what escapes slowly light."""
    return np.where(times == limit, 0, 55 + 200 * times // limit).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description="draw the Mandelbrot set")
    parser.add_argument("width", type=int, nargs="?", default=480)
    parser.add_argument("height", type=int, nargs="?", default=360)
    parser.add_argument("limit", type=int, nargs="?", default=300)
    parser.add_argument("--png", type=Path, default=Path(__file__).with_suffix(".png"))
    options = parser.parse_args()

    times = mandelbrot(options.width, options.height, options.limit)
    Image.fromarray(shades(times, options.limit)).save(options.png)

    inside = int((times == options.limit).sum())
    print(f"{options.width}x{options.height} points, at most {options.limit} steps each")
    print(f"inside: {inside} points, {100 * inside / times.size:.2f} %")
    print(f"steps taken: {int(times.sum(dtype=np.int64))}")
    print(f"crc32 of the escape times: {zlib.crc32(times.tobytes()):08x}")


if __name__ == "__main__":
    main()
