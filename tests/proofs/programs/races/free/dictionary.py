# combines: the last place of each word, in order
words = ["a", "b", "a", "c", "b", "a"]
last = {}
# dlb: parallel
for i in range(6):
    last[words[i]] = i
print(last)
