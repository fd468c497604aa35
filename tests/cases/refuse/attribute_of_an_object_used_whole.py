# expect: DLB324 14:5
n = 8


class Totals:
    def __init__(self):
        self.total = 0.0


totals = Totals()
seen = []
# dlb: parallel
for i in range(n):
    totals.total += i
    seen.append(totals)
print(totals.total)
