# expect: DLB106 2:1, DLB106 3:1, DLB106 4:1, DLB106 5:15, DLB006 0:0
#dlb: parallel
# DLB: parallel
# dlb parallel
for i in []:  # rows  # dlb: parallel
    pass
