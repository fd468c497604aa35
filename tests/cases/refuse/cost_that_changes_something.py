# expect: DLB127 14:18, DLB127 17:18, DLB127 20:18
import random

seen = []


def weigh(k):
    seen.append(k)
    return k + 1


A = [0] * 10
queue = [3, 1, 2]
# dlb: parallel, cost(weigh(i))
for i in range(10):
    A[i] = i
# dlb: parallel, cost(queue.pop() + i)
for i in range(3):
    A[i] = i
# dlb: parallel, cost(random.random())
for i in range(10):
    A[i] = i
print(A)
