"""`dlbc simulate`: a loop of a program under every strategy, on a machine that is described, in virtual time.

`values` puts numbers in the place of what only a run knows, `spans`, `costs` and `rows` say with them which
iterations there are, what they cost and what moves with them; `loops` makes of it what `dlbrt.sim` plays.
`command` reads the options, `show` prints.
"""
