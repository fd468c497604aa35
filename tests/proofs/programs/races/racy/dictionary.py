# races: what was found before is looked up
words = ["a", "b", "a", "c", "b", "a"]
first = {}
seen = [0] * 6
# dlb: parallel
for i in range(6):
    seen[i] = first.get(words[i], -1)
    first[words[i]] = i
print(seen)
