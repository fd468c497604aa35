"""A private Slurm in one machine, and jobs of the documentation that run in it."""
