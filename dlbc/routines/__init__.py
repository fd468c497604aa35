"""What the sequential code of a routine reads and writes of the arrays that stay on the ranks."""
