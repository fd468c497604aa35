# coding: latin-1
A = [""] * 3
# dlb: parallel
for i in range(3):
    A[i] = "é" * i  # é
print(A)
