# free: the function is given two lists
def add(target, source, k):
    target[k] = source[k - 1] + 1


a = [0] * 10
b = list(range(10))
# dlb: parallel
for i in range(1, 10):
    add(a, b, i)
print(a)
