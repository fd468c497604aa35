import numpy as np
from tqdm import tqdm

xs = [3, 1, 2]
ys = [1.0, 2.0, 4.0]
out = np.zeros(3)
# dlb: parallel
for k, (x, y) in enumerate(zip(xs, reversed(ys))):
    out[k] = x * y
# dlb: parallel
for i in tqdm(
    reversed(range(3)),  # downwards
    desc="rows (zip)",
):
    out[i] = i
# dlb: parallel
for i in 2, 0, 1:
    print
# dlb: parallel
for i in range(2, -1, -1):
    out[2 - i] = ys[i] - ys[i - 1]
print(out)
