"""Which operations have the same bits when they are compiled."""

from __future__ import annotations

MATH_EXACT = frozenset({"sqrt", "exp", "log", "log10", "sin", "cos", "tan", "atan", "atan2", "fabs", "hypot"})
MATH_EXACT |= {"pow", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite"}
BUILTINS_EXACT = frozenset({"abs", "min", "max", "int", "float", "bool", "round"})
NUMPY_EXACT = frozenset({"sqrt", "exp", "log", "sin", "cos", "tanh"})
