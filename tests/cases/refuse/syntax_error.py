# expect: DLB004 3:9
x = 1
y = x + 
