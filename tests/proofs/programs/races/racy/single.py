# races: the first to come counts, the others see it counted
n = 8
done = False
out = [0] * n
# dlb: parallel
for i in range(n):
    if not done:
        done = True
        out[i] = 1
print(out)
