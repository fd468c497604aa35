"""What compiled bodies leave to Python on some of their paths."""

import numpy as np

X, o, p, q, h = np.arange(12.0), [], [], [], [0] * 13


def on_paths(n):
    t = 0.0
    # dlb: parallel, jit
    for i in range(n):
        x = X[i] * 2
        y = 0
        if i % 2 == 0:
            o.append(x)
            if i % 3 == 0:
                x = x + 1
                p.append(x)
                y = 1
                o.append(y)
            elif i == 4:
                p.append(x)
            o.append(x)
            t += x
        else:
            p.append(x)
            x = 7.5
            p.append(x)
            q.append(y)
        q.append(x)
        q.append(y)
        h[int(x) % 13] += y
        if x > 9:
            print(i, x, y)
    return t


print(on_paths(12), o, p, q, h)

# dlb: parallel, jit
for i in range(12):
    x = X[i] * 2
    if x > 6:
        o.append(x)
    z = x + 1
    if i % 2:
        p.append((x, z))
    q.append({"x": x, "z": z, "i": i})
    h[int(z) % 13] += x
print(o, p, q, x, z, h)
