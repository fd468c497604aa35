"""Zaki, Li, Parthasarathy: what the paper has beyond a run.

`speed` makes processors of the loads seen so far, `network` is the paper's Ethernet. The model, the
strategies and the choice among them are in `dlbrt.balance` and `dlbrt.predict`.
"""
