# expect: DLB503 10:1
SETUP = "A = [0.0] * 8"
STEP = """
# dlb: parallel, BLOCK
for i in range(8):
    A[i] = i
"""

names = {}
exec(f"{SETUP}\n{STEP}", names)
print(names["A"])
