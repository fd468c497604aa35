"""Balancing policy, pure: events in, actions out; no MPI, no clock, no input or output."""
