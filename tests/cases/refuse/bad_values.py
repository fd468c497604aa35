# expect: DLB111 3:32, DLB111 3:37, DLB111 3:46, DLB111 3:49, DLB111 3:66, DLB111 5:27, DLB111 5:58, DLB109 5:62, DLB111 5:81, DLB111 7:18, DLB111 7:26, DLB111 7:42, DLB111 7:51, DLB111 7:64, DLB111 7:69, DLB111 7:91, DLB111 9:17, DLB111 9:34, DLB111 9:47, DLB111 9:59
A = [0] * 4
# dlb: parallel, BLOCK(A, axis=-1), BLOCK(), 3, private, private(A[0])
for i in A: A[i] = 0
# dlb: parallel, WHOLE(A, axis=0), schedule(GDDLB, group=0), reduction(A, order=all)
for i in A: A[i] = 0
# dlb: parallel, fold(), cost(), profile(5, every=0, threshold=-1), schedule(none, auto), cost=3
for i in A: A[i] = 0
# dlb: iterate, model, tolerance=1e999, every=True, model="akima"
for i in A: A[i] = 0
