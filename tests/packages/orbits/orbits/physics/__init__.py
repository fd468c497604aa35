from ..config import SETTINGS, G


def step(x, v):
    return x + v * SETTINGS["dt"]


def pull(mass, d2):
    return G * mass / (d2 + SETTINGS["softening"])
