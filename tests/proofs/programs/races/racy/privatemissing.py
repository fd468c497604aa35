# races: the buffer is one for all iterations
n = 8
buffer = [0.0] * 4
out = [0.0] * n
# dlb: parallel
for i in range(n):
    for j in range(4):
        buffer[j] = i + j
    out[i] = buffer[0] + buffer[3]
print(out)
