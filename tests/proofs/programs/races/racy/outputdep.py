# races: x carries the value of the iteration before, and is stored in the next one
n = 12
a = [0] * n
x = 10
# dlb: parallel
for i in range(n):
    a[i] = x
    x = i
print(a, x)
