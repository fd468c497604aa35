"""Ciegis, Sablinskas, Simkevicius, Wasniewski, Informatica 7 (1996): rows dealt to processors that differ.

`rows` deals them as the paper does beyond what a run needs (`dlbrt.partition.proportional`), `elimination`
counts how long an elimination then takes, `efficiency` has its closed forms.
"""
