# races: the function called by its other name stores to the next element
a = [0] * 11


def ahead(k):
    a[k + 1] = a[k] + 1


step = ahead
# dlb: parallel
for i in range(10):
    step(i)
print(a)
