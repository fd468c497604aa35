# races: the function works in one buffer of the module
buffer = [0] * 3
out = [0] * 8


def mean(k):
    buffer[0] = k
    buffer[1] = k + 1
    buffer[2] = k * 2
    return (buffer[0] + buffer[1] + buffer[2]) / 3


# dlb: parallel
for i in range(8):
    out[i] = mean(i)
print(out)
