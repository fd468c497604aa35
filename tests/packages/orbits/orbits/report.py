import inspect
import pickle

from . import bodies as module


def show(bodies):
    again = pickle.loads(pickle.dumps(bodies[:2]))
    print("same class", type(again[0]) is module.Body, again[0] == bodies[0])
    source = inspect.getsource(module.make_bodies)
    print("source", "# dlb: parallel" in source, source.count("\n"))
    print(
        "place", module.make_bodies.__code__.co_filename == module.__file__, module.make_bodies.__qualname__
    )
