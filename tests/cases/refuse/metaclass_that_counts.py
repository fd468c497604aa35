# expect: DLB409 22:17
class Counted(type):
    made = 0

    def __call__(cls, *arguments):
        Counted.made += 1
        return super().__call__(*arguments)


class Node(metaclass=Counted):
    def __init__(self, value):
        self.value = value


class Leaf(Node):
    pass


values = [0] * 8
# dlb: parallel
for i in range(8):
    values[i] = Leaf(i).value
print(values, Counted.made)
