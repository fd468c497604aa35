# races: the function is given the same list twice
def add(target, source, k):
    target[k] = source[k - 1] + 1


a = [0] * 10
# dlb: parallel
for i in range(1, 10):
    add(a, a, i)
print(a)
