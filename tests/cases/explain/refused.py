import numpy as np

total = np.ones(1000)
ix = [3, 1, 2]
# dlb: parallel
for i in range(1, 1000):
    total[i] = total[i - 1] + total[i]

# dlb: parallel
for i in range(3):
    total[i * i % 7] = total[i]

last = 0
# dlb: parallel
for i in range(3):
    print(last)
    last = i

# dlb: parallel
for i in range(3):
    if i == 2:
        break

# dlb: parallel, BLOK
for i in range(3):
    # dlb: iterate
    for j in range(3):
        pass

# dlb: parallel
for i in range(3):
    total[abs(i - 1)] = total[i]

# dlb: parallel
for i in range(3):
    total[i] = ix.pop()
