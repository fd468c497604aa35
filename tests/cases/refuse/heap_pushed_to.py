# expect: DLB425 8:5
import heapq

n = 8
heap = []
# dlb: parallel
for i in range(n):
    heapq.heappush(heap, -i)
print(heap)
