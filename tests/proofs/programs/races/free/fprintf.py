# combines: lines are printed in iteration order
n = 6
# dlb: parallel
for i in range(n):
    print(i, i * i)
