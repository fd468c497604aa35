# races: the inner function counts in its closure
def counted(n):
    out = [0] * n
    seen = [0]

    def step(k):
        seen[0] += k
        return seen[0]

    # dlb: parallel
    for i in range(n):
        out[i] = step(i)
    return out


print(counted(8))
