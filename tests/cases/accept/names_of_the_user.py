import dlbrt_tools as dlbrt

dlb = 3


def MPI(BLOCK):
    _dlb_result = BLOCK
    return _dlb_result


def _dlb_loop_1(A, xs):
    # dlb: parallel
    for k, x in enumerate(xs):
        A[k] = x * dlb
    return k, A


print(MPI(1), dlbrt, _dlb_loop_1([0, 0], [1, 2]))
