"""Measures; none is a test, but that their programs run rightly is tested."""
