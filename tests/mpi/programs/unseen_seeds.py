"""Generators made of what may be seeds or generators: each iteration draws from its own, nothing is lost."""

import numpy as np

n = 40
x = np.zeros(n)
seeds = np.random.SeedSequence(11).spawn(n)


def bits():
    print([v.hex() for v in x.tolist()], sum(s.n_children_spawned for s in seeds))


# dlb: parallel
for i in range(n):
    rng = np.random.default_rng(seeds[i])
    x[i] = rng.normal() + rng.random()
bits()
kept = []
# dlb: parallel
for i, seed in enumerate(seeds):
    rng = np.random.Generator(np.random.PCG64(seed))
    x[i] = rng.random()
    if i % 7 == 3:
        kept.append(seed)
bits()
print([a is b for a, b in zip(kept, seeds[3::7])])

# Each iteration counts in the seed
# dlb: parallel
for i in range(n):
    rng = np.random.default_rng(seeds[i])
    x[i] = rng.random()
    rng.bit_generator.seed_seq.spawn(2)
bits()

# Generators come back as they are, so they go on drawing
generators = [np.random.default_rng(seed) for seed in seeds]
for _ in range(2):
    # dlb: parallel
    for i in range(n):
        rng = np.random.default_rng(generators[i])
        x[i] = rng.random()
    bits()
print([generator.random() for generator in generators[::9]])

# One seed, and one generator, for all iterations
for seed in (7, np.random.SeedSequence(7)):
    # dlb: parallel
    for i in range(n):
        rng = np.random.default_rng(seed)
        x[i] = rng.random() + i
    bits()


# Seeds of any kind of iterable
def drawn(over):
    found = []
    # dlb: parallel
    for seed in over:
        rng = np.random.default_rng(seed)
        found.append(rng.random())
    return found


print(drawn(range(9)), drawn([1, 2, 3]), drawn(iter([4, 5, 6])), drawn({7: 1, 8: 2}), drawn(np.arange(5)))
print(drawn([np.random.SeedSequence(5), 6, np.random.default_rng(7), (8, 9)]))
