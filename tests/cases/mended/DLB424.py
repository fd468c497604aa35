n = 8
texts = [""] * n
# dlb: parallel
for i in range(n):
    texts[i] = str(i)
for i in range(n):
    with open(f"{i}.txt", "w") as out:
        out.write(texts[i])
