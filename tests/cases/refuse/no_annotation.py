# expect: DLB006 0:0
for i in range(3):
    pass
