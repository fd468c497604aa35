import hashlib

import numpy as np
from filterpy.kalman.ensemble_kalman_filter import EnsembleKalmanFilter


def hx(x):
    return np.array([x[0]])


def fx(x, dt):
    y = x.copy()
    for _ in range(20):
        y = y + dt / 20 * np.array([y[1], -np.sin(y[0]) - 0.1 * y[1]])
    return y


np.random.seed(11)
f = EnsembleKalmanFilter(x=np.array([0.3, 1.0]), P=np.eye(2) * 0.5, dim_z=1, dt=0.1, N=40, hx=hx, fx=fx)
f.R *= 0.1
f.Q = np.eye(2) * 0.01
for step in range(6):
    f.predict()
    f.update(np.array([0.3 + 0.05 * step]))
print(f.x.tolist(), f.P.tolist())
print(hashlib.sha256(f.sigmas.tobytes()).hexdigest(), np.random.random())
