# Items are kept in iteration order.
n = 9
found = []
# dlb: parallel
for i in range(n):
    if i % 2:
        found.append(i * i)
print(found)
