# expect: DLB428 9:11
class Point:
    pass


points, where = [Point() for _ in range(8)], {}
# dlb: parallel
for i, point in enumerate(points):
    where[id(point)] = i
print(len(where))
