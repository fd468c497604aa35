# free: the target begins where the source ends
n = 8
a = list(range(20))
# dlb: parallel
for i in range(n):
    a[i + 8] = a[i]
print(a)
