"""What may be written in place of what is refused, in the program's names: cases of the catalogue's help."""
