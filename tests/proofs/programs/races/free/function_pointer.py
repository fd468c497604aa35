# free: the function called by its other name gives a value back
def square(k):
    return k * k


step = square
a = [0] * 10
# dlb: parallel
for i in range(10):
    a[i] = step(i)
print(a)
