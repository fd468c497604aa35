from library import refine


def refined(A, n):
    # dlb: parallel
    for i in range(n):
        A[i] = refine(i)
