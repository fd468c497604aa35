class Point:
    def __init__(self, name):
        self.name = name


points, where = [Point(f"p{k}") for k in range(8)], {}
# dlb: parallel
for i, point in enumerate(points):
    where[point.name] = i
print(len(where))
