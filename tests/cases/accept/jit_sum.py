"""Compiled iterations that add to two values, and do nothing else for Python."""

n = 1000
area = moment = 0.0
# dlb: parallel, jit
for i in range(n):
    x = (i + 0.5) / n
    y = 4.0 / (1.0 + x * x)
    area += y
    moment = moment + x * y
print(area / n, moment / n)
