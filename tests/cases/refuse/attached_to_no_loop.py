# expect: DLB103 3:1, DLB103 6:5, DLB103 7:14, DLB103 9:10, DLB103 11:1
A = [0] * 4
# dlb: parallel
A = [1]
for i in A:
    # dlb: parallel
    A = [1]  # dlb: parallel
B = [
    i    # dlb: parallel
    for i in A]
# dlb: parallel
