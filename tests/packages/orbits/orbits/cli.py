from . import SETTINGS, VERSION, report
from .bodies import Kind, make_bodies
from .ensemble import Ensemble
from .fields import GRID, potential
from .io.tables import summarise
from .mutual_a import ping
from .physics.forces import accelerations
from .sweep import scan


def main(words):
    n = int(words[0]) if words else 24
    SETTINGS["dt"] = 0.125
    bodies = make_bodies(n)
    print("orbits", VERSION, len(bodies), Kind.PLANET in {b.kind for b in bodies})
    acc = accelerations(bodies)
    print("acc", acc.sum(), acc[-1].tolist())
    ensemble = Ensemble(bodies)
    ensemble.advance(3)
    print("energy", ensemble.energy(), ensemble.count, [round(x, 6) for x in ensemble.history])
    print("potential", potential(GRID).sum())
    print("scan", scan(5)([1.0, 2.0, 3.5]))
    print("ping", ping(6))
    print("summary", summarise(bodies))
    report.show(bodies)
    return 3 if n == 7 else 0
