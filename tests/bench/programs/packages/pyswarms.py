"""Dictionaries that are merged, later ones over earlier ones."""

from pyswarms.backend.handlers import HandlerMixin

print(HandlerMixin()._merge_dicts({"b": 1, "a": 2}, {"c": 3, "a": 4}, {"b": 5}))
