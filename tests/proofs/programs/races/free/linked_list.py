# free: the way was walked before
following = [3, 4, 5, 1, 2, 0]
order = [0]
for _ in range(5):
    order.append(following[order[-1]])
value = [0] * 6
# dlb: parallel
for i in range(6):
    value[i] = order[i] * 2
print(value)
