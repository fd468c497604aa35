"""Counts of words in generated documents: python words.py DOCUMENTS."""

import random
import re
import sys
from collections import Counter

SYLLABLES = ["ka", "lo", "mi", "ne", "ru", "sa", "to", "vi", "we", "xo"]


def document(number, length):
    rng = random.Random(number)
    words = []
    for _ in range(length):
        word = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3)))
        words.append(word.capitalize() if rng.random() < 0.1 else word)
    return " ".join(words) + "."


def tokens(text):
    return [word.lower() for word in re.findall(r"[A-Za-z]+", text)]


count = int(sys.argv[1])
totals = Counter()
longest = []
# dlb: parallel
for number in range(count):
    found = tokens(document(number, 400))
    totals.update(found)
    longest.append(max(len(word) for word in found))

print(sum(totals.values()), "words,", len(totals), "different, longest", max(longest))
for word, times in totals.most_common(8):
    print(word, times)
