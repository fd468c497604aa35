def lengths(A, words):
    # dlb: parallel
    for i, word in enumerate(words):
        A[i] = len(word)
