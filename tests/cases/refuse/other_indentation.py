# expect: DLB104 4:1, DLB104 7:3
A = [0] * 4
def f():
# dlb: parallel
    for i in A:
        pass
  # dlb: parallel
for i in A:
    pass
