# The function stores into its argument, one element further.
n = 10
A = [0.0] * (n + 1)


def put(target, k):
    target[k + 1] = target[k] + 1


# dlb: parallel
for i in range(n):
    put(A, i)
print(A)
