# dlb: parallel
for i in []:  # rows
    pass
