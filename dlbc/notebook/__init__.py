"""`%%dlb`: a cell of a notebook on several ranks, over the notebook's variables."""
