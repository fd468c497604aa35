# expect: DLB105 5:1, DLB105 8:16
A = [0] * 4
# dlb: parallel
# between
# dlb: BLOCK
for i in A: pass
# dlb: parallel
for i in A:    # dlb: parallel
    pass
