# expect: DLB116 4:1
A = [""] * 4
# dlb: parallel, jit
for i in range(4):
    A[i] = f"row {i}"
