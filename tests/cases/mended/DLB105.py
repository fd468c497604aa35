A = [0] * 4
# between
# dlb: parallel,
# dlb:     BLOCK
for i in A: pass
# dlb: parallel
for i in A:
    pass
