"""What a balancing strategy will cost, and so which to choose (Zaki, Li, Parthasarathy, section 1.3). Pure.

`network` is what messages cost, `effective_speed` a processor under discrete load and the loads that may
come, `work` the iterations a rank holds and the lower bound of all strategies, `groups` which ranks balance
together, `schemes` the paper's strategies and what each synchronization costs them, `movement` how far shares
move where rows take time, `redistribute` new shares and whether they pay, `recurrence` the paper's equations
simulated to the end. `self_scheduling`, `stealing` and `diffusing` predict the strategies beyond the paper.
`inputs` is what is known when a strategy is chosen, `choose` makes the choice.
"""
