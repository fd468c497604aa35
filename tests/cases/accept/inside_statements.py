import contextlib


def work(A, B, n, flag):
    if flag:
        pass
    elif n > 1:
        # dlb: parallel
        for i in range(n):
            A[i] = i
    else:
        with contextlib.suppress(ZeroDivisionError):
            # dlb: parallel
            for i in range(n):
                B[i] = A[i]
    try:
        # dlb: parallel
        for i in range(n):
            A[i] = B[i] * 2
    except ValueError:
        # dlb: parallel
        for i in range(n):
            A[i] = 0
    else:
        # dlb: parallel
        for i in range(n):
            A[i] = 1
    finally:
        while flag:
            # dlb: parallel
            for i in range(n):
                B[i] = 1
            flag = False
    match n:
        case 3:
            # dlb: parallel
            for i in range(n):
                B[i] = 3
    for k in range(3):
        pass
    else:
        # dlb: parallel
        for i in range(n):
            B[i] = 4
        else:
            print("both")


async def later(A, n):
    async for x in source():
        print(x)
    # dlb: parallel
    for i in range(n):
        A[i] = i


async def source():
    yield 1


class Grid:
    @staticmethod
    def fill(A, n):
        # dlb: parallel
        for i in range(n):
            A[i] = i
