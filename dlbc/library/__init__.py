"""What functions and methods of Python's library, numpy and other packages do: one table for all readers."""
