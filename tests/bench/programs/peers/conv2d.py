"""Convolution of a picture with a small one."""

import sys

from peer import serve


def conv2d(out, image, K):
    n, m = out.shape
    k = K.shape[0]
    # dlb: parallel, BLOCK(out), WHOLE(image, K), jit
    for i in range(n):
        for j in range(m):
            for p in range(k):
                for q in range(k):
                    out[i, j] += image[i + p, j + q] * K[p, q]
    return out


if __name__ == "__main__":
    serve(conv2d, "conv2d", tuple(int(word) for word in sys.argv[1:]))
