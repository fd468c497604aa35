def scan(power):
    scale = 10.0**-power

    def run(values):
        found = {}
        # dlb: parallel
        for v in values:
            found[v] = v**power * scale
        return found

    return run
