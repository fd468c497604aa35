# free: the inner function reads its closure
def weighted(n):
    out = [0] * n
    weight = 3

    def step(k):
        return weight * k

    # dlb: parallel
    for i in range(n):
        out[i] = step(i)
    return out


print(weighted(8))
