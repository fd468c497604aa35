"""What iterations cost, counted from the text."""
