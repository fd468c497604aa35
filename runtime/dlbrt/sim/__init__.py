"""The driver in virtual time: the same policy core as over MPI, under a clock that costs nothing.

Events in, actions out: what the agents of all ranks ask for becomes future events, by what messages cost and
how fast each rank computes. `machine` has the processors, the network and the loop; `worker` where a rank is
in its share, and the event queue; `ranks` what happens to ranks between actions; `action_executor` what
actions cost and cause; `driver` puts these together; `outcome` is the result. `compare` runs many strategies
on one loop and bounds them from below; `description` reads machines from TOML; `recorded` and `replay` go
from traces to simulations and back.
"""
