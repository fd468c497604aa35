# expect: DLB402 8:5, DLB402 9:5
import matplotlib.pyplot as plt

n = 8
log = open("log.txt", "w")
# dlb: parallel
for i in range(n):
    print(i, file=log)
    plt.savefig(f"{i}.png")
