"""Distributions, pure: which positions and rows each rank holds, and what moves between ranks."""
