# races: the module's counter is advanced by the function, and its value used
calls = 0
out = [0] * 8


def following():
    global calls
    calls += 1
    return calls


# dlb: parallel
for i in range(8):
    out[i] = following()
print(out)
