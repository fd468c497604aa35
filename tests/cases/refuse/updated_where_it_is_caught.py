# expect: DLB328 8:9
words = "one two three two".split()
counts = {"one": 0, "two": 0}
unknown = 0
# dlb: parallel
for i in range(len(words)):
    try:
        counts[words[i]] += 1
    except KeyError:
        unknown += 1
