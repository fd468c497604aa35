# expect: DLB505 17:5
import numpy as np

A = np.zeros(8)


def switched_off(function):
    def nothing():
        print("nothing to do")

    return nothing


@switched_off
def fill():
    # dlb: parallel, BLOCK
    for i in range(8):
        A[i] = i


fill()
