# free: the counter is the iteration's
out = [0] * 8


def following(k):
    return k + 1


# dlb: parallel
for i in range(8):
    out[i] = following(i)
print(out)
