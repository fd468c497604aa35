# races: each iteration goes on where the one before has stopped
following = [3, 4, 5, 1, 2, 0]
value = [0] * 6
at = 0
# dlb: parallel
for i in range(6):
    value[at] = i
    at = following[at]
print(value)
