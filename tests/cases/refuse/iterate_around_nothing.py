# expect: DLB128 3:1, DLB128 6:1
A = [0.0] * 4
# dlb: iterate
for t in range(3):
    A[0] += t
# dlb: iterate
while A[0] < 9.0:
    def relax(B):
        # dlb: parallel
        for i in range(4):
            B[i] += 1.0

    relax(A)
