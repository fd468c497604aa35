# expect: DLB408 18:5
class Counter:
    def __init__(self):
        self.raw = 0

    @property
    def count(self):
        return self.raw

    @count.setter
    def count(self, new):
        self.raw = new


counter = Counter()
# dlb: parallel
for i in range(8):
    counter.count += 1
print(counter.count)
