"""Proof that iterations do not meet: conditions over integers, and the solvers that decide them."""
