def f(A, items, n):
    # dlb: parallel, cost(cumulative=i**2)
    for i in range(len(items)):
        A[i] = items[i]
    # dlb: parallel, cost(x)
    for x in items:
        print(x)
