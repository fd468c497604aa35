"""Ranks that die: these tests need an environment of their own, with Open MPI."""
