# races: the text so far is carried, and its length stored
n = 6
lines = ""
lengths = [0] * n
# dlb: parallel
for i in range(n):
    lines = lines + str(i) + "\n"
    lengths[i] = len(lines)
print(lengths)
