# races: the list that the default holds is one for all calls
out = [0] * 8


def number(k, known=[0]):
    known[0] = known[0] + k
    return known[0]


# dlb: parallel
for i in range(8):
    out[i] = number(i)
print(out)
