def found(A, n):
    total, large = 0, []
    # dlb: parallel
    for i in range(n):
        total += A[i]
        if A[i] > 9:
            large.append(i)
            print(i)
    return total, large
