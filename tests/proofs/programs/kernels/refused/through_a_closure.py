# The inner function keeps the running value.
def make(n):
    out = [0.0] * n
    state = [0.0]

    def advance(k):
        state[0] = state[0] + k
        return state[0]

    # dlb: parallel
    for i in range(n):
        out[i] = advance(i)
    return out


print(make(8))
