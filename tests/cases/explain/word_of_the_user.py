def scatter(A, ix, scratch, n):
    # dlb: parallel, assume_independent, private(scratch)
    for i in range(n):
        for k in range(3):
            scratch[k] = i * k
        A[ix[i]] = sum(scratch)


def not_needed(A, n):
    # dlb: parallel, assume_independent
    for i in range(n):
        A[i] = i


def files(tables, n):
    # dlb: parallel, assume_independent
    for k, rows in enumerate(tables):
        with open(f"{k}.txt", "w") as file:
            file.writelines(rows)
