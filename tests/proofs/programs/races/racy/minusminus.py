# races: the number of what is left is decreased and used
n = 9
x = [k % 3 for k in range(n)]
left = n
order = [0] * n
# dlb: parallel
for i in range(n):
    if x[i] > 0:
        left -= 1
        order[left] = i
print(order, left)
