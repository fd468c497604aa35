"""What a balancing strategy will cost, and so which one to take (Zaki, Li, Parthasarathy, section 1.3).

Pure, as all of the core. `network` is what messages cost, `speed` a processor under discrete load, `work` the
iterations a rank holds, `groups` who balances with whom, `schemes` the strategies and what each
synchronization costs them, `redistribute` new shares and whether they pay, `recurrence` the paper's equations
played to the end, `member` one rank in them, `forecast` the loads that may come, `choose` the strategy that
comes out cheapest.

Beyond the paper's strategies (`repertoire`): `dealing` is self-scheduling by estimates (`desk`), `stealing`
and `diffusing` are what they say. `fluid` is the floor that none can beat, `outlook` what estimates
share, `screening` which strategies are worth playing when one is to be chosen (`known`).
"""
