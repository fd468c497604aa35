"""Coded diagnostics: what is wrong, where, and what to try; every code has a row in a table."""
