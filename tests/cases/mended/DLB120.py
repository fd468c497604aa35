# dlb: parallel
for i in range(3):
    for j in range(3):
        pass
