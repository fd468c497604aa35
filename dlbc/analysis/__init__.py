"""What code does, read off its tree: names, points-to, effects, accesses, what calls reach."""
