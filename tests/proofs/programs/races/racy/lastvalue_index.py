# races: the loop's last position is used as a place
n = 8
a = [0] * (n + 1)
p = 0
# dlb: parallel
for i in range(n):
    a[p] = i
    p = i + 1
print(a, p)
