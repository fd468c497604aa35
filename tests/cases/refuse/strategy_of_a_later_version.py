# expect: DLB115 3:27
A = [0] * 4
# dlb: parallel, schedule(diffusion, group=2)
for i in A: pass
