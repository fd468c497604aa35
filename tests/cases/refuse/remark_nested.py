# expect: DLB120 4:5
# dlb: parallel
for i in range(3):
    # dlb: parallel
    for j in range(3):
        pass
