def weigh(k):
    return k + 1


A = [0] * 10
queue = [3, 1, 2]
# dlb: parallel, cost(weigh(i))
for i in range(10):
    A[i] = i
# dlb: parallel, cost(queue[i] + i)
for i in range(3):
    A[i] = i
# dlb: parallel, cost(i + 1)
for i in range(10):
    A[i] = i
print(A)
