"""The driver in virtual time: one policy core, the same as over MPI, under a clock that costs nothing.

Events in, actions out: what the balancers of all ranks ask for becomes events in the future, by what messages
cost and how fast each rank computes. `machine` says what is simulated, `course` how a rank computes under
emulated load, `worker` where in its share it is, `links` what moving data takes, `heap` what happens next;
`replicas` lets ranks that know the same compute it once; `ranks` is what happens to ranks between what they
ask for, `carriers` what comes of that; `driver` puts them together, `outcome` is what came of it, `optimum`
what no balancing could beat. `play` has many strategies at one loop; machines are read by
`read_machine`, which makes a `description`, with `tables` and `loads`.
"""
