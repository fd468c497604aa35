"""Arrays that iterations keep may be views of what they compute: strided, transposed, read-only, empty."""

import numpy as np

n = 12
c, d, e, g, h = [None] * n, {}, [], [None] * n, [None] * n
# dlb: parallel
for i in range(n):
    a = np.arange(24.0) + i
    c[i] = a[::2]
    d[i] = (i, a[::3], a.reshape(6, 4).T[1], a.reshape(2, 3, 4).transpose(1, 2, 0))
    e.append(a[::-1])
    g[i] = (
        a.reshape(4, 6)[1:3, 2:4],
        np.zeros(3, "U0"),
        np.zeros((2, 0)),
        np.float64(i) + np.zeros(()),
        a.astype("M8[s]")[::5],
        np.zeros(4, "i4,f8")[::2],
    )
    h[i] = np.broadcast_to(np.float64(i), (3, 2)), a.reshape(4, 6).T, np.asfortranarray(a.reshape(4, 6))


def show(x):
    if isinstance(x, np.ndarray):
        own = x.size and x.dtype.hasobject is False
        return x.tolist(), x.shape, str(x.dtype), x.flags.writeable, x.strides if own else None
    if isinstance(x, (list, tuple)):
        return [show(y) for y in x]
    if isinstance(x, dict):
        return [(k, show(v)) for k, v in x.items()]
    return x


kept = [None] * n
# dlb: parallel
for i in range(n):
    x = np.random.default_rng(i).normal(size=200)
    kept[i] = x[::2], np.fft.fft(x).real, (x.reshape(10, 20) * 3).T[::2], (x + 1)[::-1]
for x in (c, d, e, g, h, kept):
    print(show(x))
print([[float(v.ravel("K") @ v.ravel("K")).hex() for v in vs] + [float(vs[0] @ vs[0]).hex()] for vs in kept])
