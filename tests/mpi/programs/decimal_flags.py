"""Signals that iterations raise in the decimal context stand there after the loop."""

import decimal
from decimal import Decimal

context = decimal.getcontext()
context.traps[decimal.DivisionByZero] = False


def raised():
    return sorted(signal.__name__ for signal, is_set in context.flags.items() if is_set)


def divide(over, n=12):
    out = [None] * n
    # dlb: parallel
    for i in range(n):
        out[i] = Decimal(6) / Decimal(over[i])
    print(out, raised())


divide([1] * 12)
divide([1] * 11 + [7])
context.clear_flags()
divide([1] * 12)
divide([2] * 5 + [0] + [2] * 6)
