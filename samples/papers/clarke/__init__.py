"""Clarke, Lastovetsky, Rychkov (Parallel Processing Letters, 2011): what their figures show (`figure`)."""
