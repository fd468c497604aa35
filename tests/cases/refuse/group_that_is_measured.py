# expect: DLB420 7:5, DLB302 7:5, DLB420 7:30
from collections import defaultdict

groups = defaultdict(list)
# dlb: parallel
for i in range(8):
    groups[i % 3].append(len(groups[i % 3]))
print(groups)
