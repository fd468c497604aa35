"""Simulated diffusion signals, streamlines and images through the functions whose loops are proposed."""

import copyreg

import numpy as np
from dipy.align.reslice import reslice
from dipy.core.gradients import gradient_table
from dipy.core.graph import Graph
from dipy.core.wavelet import permutationinverse
from dipy.denoise.adaptive_soft_matching import adaptive_soft_matching
from dipy.denoise.gibbs import _image_tv
from dipy.denoise.noise_estimate import piesno
from dipy.io.dpy import Dpy
from dipy.reconst.utils import _roi_in_volume
from dipy.segment.threshold import upper_bound_by_rate
from dipy.sims import voxel
from dipy.stats.qc import find_qspace_neighbors, neighboring_dwi_correlation
from dipy.stats.sketching import count_sketch
from dipy.tracking import metrics, streamline, utils
from dipy.utils.deprecator import deprecated_params
from dipy.utils.tripwire import TripWire
from dipy.utils.volume import adjacency_calc
from show import show

# It stands for a package that is missing. A copy of it would look up its own message without end.
copyreg.pickle(TripWire, lambda wire: (TripWire, (vars(wire)["_msg"],)))
rng = np.random.default_rng(12)
graph = Graph()
for name in "abcd":
    graph.add_node(name, attr=1)
for ends in ("ab", "ac", "bd", "cd", "bc"):
    graph.add_edge(*ends)
print(sorted(map("".join, graph.up("d"))), graph.all_paths(graph.succ, "a", end="d"))
print(permutationinverse([2, 0, 3, 1]))
volume = rng.random((16, 16, 16))
show("soft matching", adaptive_soft_matching(volume, volume * 0.9, volume * 0.8, 0.05))
for part in _image_tv(volume[3], axis=1, n_points=4):
    show("variation", part)
noise = np.abs(rng.normal(0, 30, (20, 20, 4, 8)) + 1j * rng.normal(0, 30, (20, 20, 4, 8)))
show("sigma", piesno(noise, 1, return_mask=False))
show("resliced", reslice(rng.random((6, 7, 8, 3)), np.eye(4), (1.0, 1.0, 1.0), (2.0, 2.0, 2.0))[0])
tracks = [rng.random((4 + k % 5, 3)) * 9 for k in range(17)]
file = Dpy("tracks.dpy", mode="w", compression=1)
file.write_tracks(streamline.Streamlines(tracks))
file.close()
file = Dpy("tracks.dpy", mode="r")
for track in [*file.read_tracks(), *file.read_tracksi([3, 5, 11])]:
    show("track", track)
file.close()
show("radii", _roi_in_volume(np.array([20, 30, 9]), np.array([3, 12, 7]), np.array([5, 5, 5])))
show("bound", upper_bound_by_rate(rng.gamma(2.0, 1.0, 4000), rate=0.2))
directions = rng.normal(size=(24, 3))
directions /= np.linalg.norm(directions, axis=1)[:, None]
table = gradient_table(
    np.r_[0, np.full(12, 1000.0), np.full(12, 2000.0)], bvecs=np.r_[[[0.0, 0, 0]], directions]
)
show("sticks", voxel.sticks_and_ball(table, snr=None)[0])
show("tensor", voxel.single_tensor(table, snr=None))
evals = np.array([[0.0015, 0.0003, 0.0003], [0.0012, 0.0004, 0.0002]])
angles = [(0, 0), (60, 20)]
for part in voxel.multi_tensor_dki(table, evals, angles=angles, fractions=[60, 40], snr=None):
    show("kurtosis", part)
components = rng.random((3, 3, 3))
show("element", voxel.kurtosis_element(components, [0.2, 0.5, 0.3], 0, 1, 2, 1))
show("odf", voxel.multi_tensor_odf(directions, evals, angles, [50, 50]))
show("pdf", voxel.multi_tensor_pdf(directions * 0.02, evals, angles, [50, 50]))
print(find_qspace_neighbors(table))
images = rng.random((5, 6, 4, 25))
show("correlation", neighboring_dwi_correlation(images, table))
show("correlation in a mask", neighboring_dwi_correlation(images, table, mask=images[..., 0] > 0.4))
np.random.seed(3)
np.memmap("a.dat", dtype=np.float64, mode="w+", shape=(10, 8, 6, 5))[:] = rng.random((10, 8, 6, 5))
name, dtype, shape = count_sketch("a.dat", np.float64, (10, 8, 6, 5), 30, ".")
show("sketch", np.memmap(name, dtype=dtype, mode="r", shape=shape))
show("winding", metrics.winding(np.cumsum(rng.random((40, 3)), axis=0)))
points, offsets = streamline.unlist_streamlines(tracks)
for track in streamline.relist_streamlines(points, offsets):
    show("relisted", track)
turned = streamline.orient_by_streamline([t[::-1] if k % 2 else t for k, t in enumerate(tracks)], tracks[3])
for track in turned:
    show("oriented", track)
for values in streamline.values_from_volume(rng.random((12, 12, 12, 4)), tracks, np.eye(4)):
    show("values", values)
show("density", utils.density_map(tracks, np.eye(4), (11, 11, 11)))
labels = rng.integers(0, 6, (11, 11, 11))
matrix, mapping = utils.connectivity_matrix(tracks, np.eye(4), labels, inclusive=True, return_mapping=True)
show("connections", matrix)
print({tuple(map(int, key)): value for key, value in mapping.items()})
for part in utils.reduce_rois([labels == k for k in range(5)], [True, False, True, False, True]):
    show("regions", part)
print(adjacency_calc((3, 4, 2), mask=rng.random((3, 4, 2)) > 0.3)[:9], adjacency_calc((3, 3, 2))[:5])


@deprecated_params(["old", "older"], new_name=["new", "newer"], since=["1.0", "1.0"], until=["99.0", "99.0"])
def call(new, newer=2):
    return new, newer


print(call(4, newer=5))
