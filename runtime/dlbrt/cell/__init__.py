"""The variables of a notebook in a program that runs one of its cells, and back again."""
