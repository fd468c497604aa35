# races: x of the iteration before is used where this one sets none
n = 10
x = -1
out = [0] * n
# dlb: parallel
for i in range(n):
    if i % 3 == 0:
        x = i
    out[i] = x
print(out, x)
