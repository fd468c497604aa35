# expect: DLB116 5:12
A = [""] * 4
# dlb: parallel, jit
for i in range(4):
    A[i] = f"row {i}"
