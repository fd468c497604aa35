A = [0.0] * 8
# dlb: parallel, BLOCK
for i in range(8):
    A[i] = i
print(A)
