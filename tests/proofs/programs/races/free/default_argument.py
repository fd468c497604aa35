# free: the default is a number
out = [0] * 8


def number(k, known=5):
    return known + k


# dlb: parallel
for i in range(8):
    out[i] = number(i)
print(out)
