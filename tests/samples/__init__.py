"""The sample programs, alone and transformed."""
