A = [0] * 5
B = [0] * 5
for k in range(2):  # not annotated
    pass
# dlb: parallel
for i in range(5): A[i] = i; B[i] = 2 * i
if A:
    for i in range(5): B[i] = A[i]  # dlb: parallel, BLOCK(A, B)
    else: print("whole")  # always
for(i)in range(5):A[i] = i # dlb: parallel
print(A, B)
