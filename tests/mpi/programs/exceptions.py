"""Exceptions of many types from the body, caught at the loop: type, attributes, causes, earlier stores."""

import warnings

import numpy as np

warnings.simplefilter("error")


class Slotted(Exception):
    __slots__ = ("place",)

    def __init__(self, place):
        super().__init__("slotted")
        self.place = place


class Shown(Exception):
    def __init__(self, code):
        self.code = code

    def __str__(self):
        return f"code {self.code}"


class Holding(Exception):
    pass


def holding(i):
    error = Holding("words")
    vars(error).update(number=i, source=(k for k in range(i)))
    return error


def fail(kind, i):
    if kind == 0:
        raise OSError(2, "gone", "a.txt")
    if kind == 1:
        b"\xff".decode("utf-8")
    if kind == 2:
        try:
            {}[i]
        except KeyError as error:
            raise RuntimeError("outer") from error
    if kind == 3:
        raise ExceptionGroup("several", [ValueError(i), Slotted(i)])
    if kind == 4:
        raise Slotted(i)
    if kind == 5:
        raise Shown(i)
    if kind == 6:
        raise holding(i)
    if kind == 7:
        warnings.warn("as an error", stacklevel=1)
    if kind == 8:
        raise StopIteration(i)
    if kind == 9:
        raise SystemExit(i)
    if kind == 10:
        raise KeyboardInterrupt
    if kind == 11:
        np.zeros((2, 2)).sum(axis=i)
    return 1.0


def described(error):
    if error is None:
        return None
    names = (
        "errno",
        "filename",
        "object",
        "start",
        "place",
        "code",
        "number",
        "value",
        "axis",
        "ndim",
        "exceptions",
    )
    members = [(name, repr(getattr(error, name))) for name in names if hasattr(error, name)]
    return type(error).__name__, str(error), members, described(error.__cause__), described(error.__context__)


def loop(kind, A):
    n = len(A)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = fail(kind, i) if i in (7, 3 * n // 4, n - 1) else 2.0


for kind in range(13):
    for n in (1, 23):
        A = np.zeros(n)
        try:
            loop(kind, A)
            print(kind, "no failure", A.sum())
        except BaseException as error:
            own = isinstance(error, (Slotted, Shown, Holding))
            print(kind, described(error), own, A[:7].tolist())


def kept(n):
    errors, seen, shown = [None] * n, [], [None] * n
    # dlb: parallel, BLOCK
    for i in range(n):
        try:
            try:
                fail(i % 13, i)
            except Exception as error:
                raise Wrapped(i) from error
        except Wrapped as error:
            errors[i] = error
            seen.append(error)
    print([described(error) for error in errors], [a is b for a, b in zip(filter(None, errors), seen)])
    # dlb: parallel, BLOCK
    for i in range(n):
        shown[i] = described(errors[i])
    print(shown == [described(error) for error in errors])


class Wrapped(Exception):
    def __init__(self, number, *, place="kept"):
        super().__init__(f"number {number}")
        self.number, self.place = number, place


kept(13)


def same_name(texts):
    """Handlers in the loop, around it and after it give their exceptions the same name."""
    try:
        # dlb: parallel, BLOCK
        for i in range(6):
            try:
                texts[i] = str(int("123x5"[: i + 1]))
            except ValueError as caught:
                texts[i] = str(caught)
                if i == 4:
                    raise Wrapped(i) from caught
    except Wrapped as caught:
        print(caught, repr(caught.__cause__), caught.number, i, texts[:5])
    try:
        texts[9]
    except IndexError as caught:
        print(caught)


same_name([""] * 6)
