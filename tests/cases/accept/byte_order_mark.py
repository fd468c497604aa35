A = [0] * 3
# dlb: parallel
for i in range(3):
    A[i] = i
print(A)
