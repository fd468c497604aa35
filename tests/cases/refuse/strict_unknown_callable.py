# expect --strict: DLB423 7:12
import library

B = [0.0] * 8
# dlb: parallel
for i in range(8):
    B[i] = library.measure(i)
