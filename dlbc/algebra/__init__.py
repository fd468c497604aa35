"""Integer forms, conditions and sets; amounts of work as polynomials, and their sums."""
