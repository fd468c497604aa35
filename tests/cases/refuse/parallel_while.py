# expect: DLB117 3:1
A = [0] * 4
# dlb: parallel
while A:
    A = []
