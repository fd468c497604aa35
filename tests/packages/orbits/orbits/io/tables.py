from collections import Counter

from ..mutual_b import loud


def summarise(bodies):
    counts = Counter()
    names = []
    # dlb: parallel
    for body in bodies:
        counts[body.kind] += 1
        if body.heavy:
            names.append(body.name)
    loud(4)
    return sorted((k.name, v) for k, v in counts.items()), names
