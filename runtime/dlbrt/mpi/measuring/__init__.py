"""What the network takes: stored, measured coarsely at the start, or calibrated."""
