# expect: DLB427 15:16
line = 0


def lines(text):
    global line
    for row in text.split():
        line += 1
        yield row


def long_ones(text):
    found = []
    # dlb: parallel
    for row in lines(text):
        if len(row) > 2:
            found.append((line, row))
    return found


print(long_ones("a bbb cc dddd"))
