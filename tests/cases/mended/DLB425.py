import heapq

n = 8
heap = []
# dlb: parallel
for i in range(n):
    heap.append(-i)
heapq.heapify(heap)
print(heap)
