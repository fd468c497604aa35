"""What iterations write and contribute, on its way to rank 0: journals, and standard output."""
