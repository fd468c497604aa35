"""Iterative routines: arrays that stay on the ranks from one parallel loop to the next."""
