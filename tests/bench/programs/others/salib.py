import numpy as np
from SALib.analyze import delta, dgsm, pawn
from SALib.sample import finite_diff, latin
from SALib.test_functions import Ishigami, Sobol_G

problem = {"num_vars": 3, "names": ["x1", "x2", "x3"], "bounds": [[-np.pi, np.pi]] * 3}
X = latin.sample(problem, 4000, seed=7)
print(pawn.analyze(problem, X, Ishigami.evaluate(X), S=12, seed=7).to_df().to_string())
X = finite_diff.sample(problem, 2000, delta=0.001, seed=7)
print(dgsm.analyze(problem, X, Ishigami.evaluate(X), num_resamples=200, seed=7).to_df().to_string())
wide = {"num_vars": 8, "names": [f"x{k}" for k in range(8)], "bounds": [[0, 1]] * 8}
X = latin.sample(wide, 6000, seed=3)
print(
    {k: np.asarray(v).tolist() for k, v in pawn.analyze(wide, X, Sobol_G.evaluate(X), S=15, seed=3).items()}
)
X = latin.sample(problem, 600, seed=9)
print(delta.analyze(problem, X, Ishigami.evaluate(X), num_resamples=24, seed=9).to_df().to_string())
