# expect: DLB324 6:9
best = {"v": 1e9, "i": -1}
# dlb: parallel
for i in range(8):
    if i < 7:
        if -i < best["v"]:
            best["v"] = -i
            best["i"] = i
    print(best["v"])
