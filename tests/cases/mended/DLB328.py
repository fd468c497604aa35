words = "one two three two".split()
counts = {"one": 0, "two": 0}
unknown = 0
# dlb: parallel
for i in range(len(words)):
    if words[i] in ("one", "two"):
        counts[words[i]] += 1
    else:
        unknown += 1
