# A file that begins with comments.

# dlb: parallel,
# dlb:     BLOCK(A)

# another comment between annotation and loop
for i in range(  # from zero
    6  # to six
):  # end of the header
    # first in the body

    A = [1]  # at the end of a line
    # last in the body
# above else
else:  # no break
    # in the else
    print("done")
    # last in the else
# after the loop


def f(A, n):
    # first in f
    # dlb: parallel
    for i in range(n):
        A[i] = i
        # last in the loop
    # last in f

    # after a blank line


# the last line of the file
