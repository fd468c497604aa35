"""What papers report, done again: a folder for each, with what only that needs; the rest is the runtime's."""
