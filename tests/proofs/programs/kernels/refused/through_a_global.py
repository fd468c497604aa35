# A counter of the module is changed by the function.
count = 0
n = 9
out = [0] * n


def number():
    global count
    count = count + 1
    return count


# dlb: parallel
for i in range(n):
    out[i] = number()
print(out)
