# free: the function makes its buffer
out = [0] * 8


def mean(k):
    buffer = [k, k + 1, k * 2]
    return (buffer[0] + buffer[1] + buffer[2]) / 3


# dlb: parallel
for i in range(8):
    out[i] = mean(i)
print(out)
