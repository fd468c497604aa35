# expect --strict: DLB424 4:18
n = 8

# dlb: parallel, assume_independent
for i in range(n):
    with open(f"{i}.txt", "w") as out:
        out.write(str(i))
