"""Runs programs for tests: under mpiexec or alone, bounded in time, nothing left behind."""
