A = [0] * 4
def f():
    # dlb: parallel
    for i in A:
        pass
# dlb: parallel
for i in A:
    pass
