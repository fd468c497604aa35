import numpy as np

A = np.zeros(8)


def switched_off(function):
    def nothing():
        print("nothing to do")

    return nothing


def fill():
    # dlb: parallel, BLOCK
    for i in range(8):
        A[i] = i


fill()
