"""Frozen dataclasses that pass between stages; each module is one stage's result."""
