n = 8
lines = []
# dlb: parallel
for i in range(n):
    lines.append(f"{i}\n")
with open("log.txt", "w") as log:
    log.writelines(lines)
