# The store is two calls away.
n = 10
A = [0.0] * (n + 1)


def store(target, k, value):
    target[k] = value


def step(target, k):
    store(target, k + 1, target[k] + 1)


# dlb: parallel
for i in range(n):
    step(A, i)
print(A)
