# free: the buffer is made in the iteration
n = 8
out = [0.0] * n
# dlb: parallel
for i in range(n):
    buffer = [0.0] * 4
    for j in range(4):
        buffer[j] = i + j
    out[i] = buffer[0] + buffer[3]
print(out)
