import hashlib

import numpy as np
from minisom import MiniSom

rng = np.random.default_rng(5)
data = np.concatenate([rng.normal(m, 0.4, (400, 6)) for m in (0.0, 1.5, 3.0)])
labels = [k // 400 for k in range(1200)]
for topology in ("rectangular", "hexagonal"):
    som = MiniSom(14, 14, 6, sigma=1.5, learning_rate=0.5, random_seed=3, topology=topology)
    som.train(data, 500)
    print(hashlib.sha256(som.distance_map().tobytes()).hexdigest()[:24])
    print(som.activation_response(data)[:3].tolist())
    print(repr(som.distortion_measure(data)), repr(som.quantization_error(data)))
    print({k: len(v) for k, v in list(som.win_map(data).items())[:6]})
    print(list(som.labels_map(data, labels).items())[:5])
