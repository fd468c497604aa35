"""Functions of images whose loops are proposed."""

import io

import numpy as np
from show import show
from skimage import graph
from skimage._shared._warnings import all_warnings
from skimage._vendored.numpy_lookfor import lookfor
from skimage.draw import ellipsoid, line_nd
from skimage.feature import peak_local_max
from skimage.measure import moments_central
from skimage.morphology import flood
from skimage.morphology._util import _set_border_values
from skimage.registration._optical_flow_utils import _get_warp_points
from skimage.transform import frt2, ifrt2, integral_image, integrate
from skimage.transform.hough_transform import label_distant_points
from skimage.util import compare_images, random_noise, slice_along_axes

rng = np.random.default_rng(21)
show("ellipsoid", ellipsoid(6, 4, 5, spacing=(1.0, 1.5, 0.7)))
show("line", line_nd((2, 1, 1), (50, 30, 12.5)))
image = rng.random((40, 30))
show("peaks", peak_local_max(image, min_distance=3))
labels = np.repeat(np.arange(12).reshape(3, 4), 10, axis=0).repeat(8, axis=1)
show("peaks of labels", peak_local_max(rng.random((30, 32)), labels=labels, exclude_border=(2, 3)))
color = rng.random((30, 32, 3))
rag = graph.rag_mean_color(color, labels)
show("cut", graph.cut_threshold(labels, rag, 0.3))
similar = graph.rag_mean_color(color, labels, mode="similarity")
show("normalized cut", graph.cut_normalized(labels, similar, rng=5))


def weight(rag, src, dst, n):
    return {"weight": 1.0 / (1 + n)}


def merge(rag, src, dst):
    rag.nodes[dst]["mean color"] = rag.nodes[dst]["mean color"] + rag.nodes[src]["mean color"]


merged = graph.merge_hierarchical(
    labels, rag.copy(), 0.2, rag_copy=True, in_place_merge=False, merge_func=merge, weight_func=weight
)
show("merged", merged)
show("moments", moments_central(rng.random((12, 14)), order=5))
# Two updates of a product in an iteration: the last bits are not those of the sequential program.
show("moments in space", np.round(moments_central(rng.random((6, 7, 8)), order=4), 4))
bordered = rng.random((8, 9))
_set_border_values(bordered, 7.5, border_width=((1, 1), (2, 3)))
_set_border_values(bordered, np.arange(1.0, 10.0), border_width=((2, 1), (0, 0)))
show("border", bordered)
show("flood", flood((image * 3).astype(int), (2, 3)))
grid = np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij", sparse=True)
show("warp", _get_warp_points(grid, rng.random((2, 5, 6))))
square = rng.integers(0, 99, (13, 13))
show("radon", frt2(square))
show("inverse", ifrt2(frt2(square)))
show("distant", label_distant_points(rng.integers(0, 90, 60), rng.integers(0, 90, 60), 9, 11, 25))
show("integral", integrate(integral_image(image), [(0, 0), (3, 4), (5, 1)], [(7, 8), (9, 9), (30, 20)]))
show("slices", slice_along_axes(image, ((3, 30), (2, -4)), axes=(0, 1)))
show("checkerboard", compare_images(image, image[::-1], method="checkerboard", n_tiles=(5, 6)))
show("noise", random_noise(image, mode="s&p", rng=3, amount=0.1))
with all_warnings():
    pass
lookfor("hough", module="skimage.transform", output=(text := io.StringIO()))
print(text.getvalue())
