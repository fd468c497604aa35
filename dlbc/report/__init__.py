"""`dlbc report`: a recorded run as pictures."""
