# Each sum needs the one before.
x = [3, 1, 4, 1, 5, 9, 2, 6]
total = [0] * (len(x) + 1)
# dlb: parallel
for i in range(len(x)):
    total[i + 1] = total[i] + x[i]
print(total)
