# expect: DLB106 2:1, DLB106 3:1, DLB106 4:1, DLB106 5:1, DLB106 6:1, DLB106 7:1, DLB106 8:1, DLB106 9:1, DLB106 10:1, DLB106 11:1, DLB006 0:0
# dlb; parallel
# dlb - parallel
# dlbc: parallel
# @dlb: parallel
#: dlb: parallel
# pragma dlb parallel
# dbl: parallel
# ldb: iterate
# dlbc: paralel, BLOCK
# dlbc: itterate
# dlbc: lines of parallel loops; dlbc: iterations are counted from 0.
# The dlb tool can run this: parallel loops need no more; dlbc (parallel) is its name.
for i in []:
    pass
