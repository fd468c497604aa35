def lines(text):
    for number, row in enumerate(text.split(), 1):
        yield number, row


def long_ones(text):
    found = []
    # dlb: parallel
    for number, row in lines(text):
        if len(row) > 2:
            found.append((number, row))
    return found


print(long_ones("a bbb cc dddd"))
