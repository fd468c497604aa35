# enumerate counts the iterations.
words = ["a", "bcd", "ef", "ghij", "klmno"]
sizes = [0] * len(words)
# dlb: parallel
for i, word in enumerate(words):
    sizes[i] = len(word)
print(sizes)
