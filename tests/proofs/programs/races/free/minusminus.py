# combines: the number is a reduction
n = 9
x = [k % 3 for k in range(n)]
left = n
# dlb: parallel
for i in range(n):
    if x[i] > 0:
        left -= 1
print(left)
