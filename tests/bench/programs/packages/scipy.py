"""Functions of scipy whose loops are proposed; most of them are of its vendored packages."""

import matplotlib.pyplot as plt
import numpy as np
from scipy._lib import doccer
from scipy._lib._bunch import _make_tuple_bunch
from scipy._lib.array_api_extra import isin
from scipy._lib.pyprima.cobyla.trustregion import trstlp
from scipy._lib.pyprima.common import linalg
from scipy.spatial import Voronoi, voronoi_plot_2d
from scipy.special._precompute import gammainc_asy
from show import show

rng = np.random.default_rng(17)
linalg.USE_NAIVE_MATH = True
x, y = rng.random((12, 9)), rng.random((9, 11))
show("inner", linalg.inprod(x[0], y[:, 0]))
show("vector by matrix", linalg.matprod(x[0], y))
show("matrix by vector", linalg.matprod(x, y[:, 3]))
show("product", linalg.matprod(x[:9], y[:, :9]))
show("outer", linalg.outprod(x[0], y[0]))
for axis in (None, 0, 1):
    show("sum", linalg.primasum(x, axis=axis))
show("inverse", linalg.inv(np.triu(rng.random((8, 8)) + np.eye(8))))
linalg.USE_NAIVE_MATH = False
show("step", trstlp(rng.random((5, 7)) * [1, 1, 1e14, 1, 1, 1e13, 1], rng.random(7), 0.5, rng.random(5)))
text = "A function.\n\n    %(first)s\n    and\n    %(second)s"
parts = {"first": "x : int\n    a number", "second": "y : float\n        another"}
print(doccer.docformat(text, parts), doccer.unindent_dict(parts))
print(doccer.indentcount_lines(["", "    a", "      b", "   c"]))
Pair = _make_tuple_bunch("Pair", ["left", "right"], ["both", "none"])
pair = Pair(1, 2, both=3, none=4)
print(pair, pair.left, pair.both, Pair.__repr__.__qualname__)
show("in", isin(rng.integers(0, 40, 3000), np.array([3, 7, 11])))
show("not in", isin(rng.integers(0, 40, 3000), np.array([3, 7, 11]), invert=True))
figure = voronoi_plot_2d(Voronoi(rng.random((40, 2))))
for lines in figure.axes[0].collections:
    for segment in lines.get_segments():
        show("ridge", segment)
plt.close(figure)
for row in gammainc_asy.compute_a(12):
    print(row)
