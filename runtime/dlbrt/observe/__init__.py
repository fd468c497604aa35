"""Observation: one schema of figures for every driver, and the reports made of them."""
