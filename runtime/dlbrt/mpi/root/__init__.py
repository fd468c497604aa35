"""What rank 0 alone does: leads the runs of loops, and remembers what they cost."""
