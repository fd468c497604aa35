"""Records of the module logging reach the program's own handlers in iteration order."""

import io
import logging
import sys

import numpy as np

SIZE = 40
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("program")
verbose = logging.getLogger("program.verbose")
verbose.setLevel(logging.DEBUG)
quiet = logging.getLogger("program.quiet")
quiet.setLevel(logging.ERROR)
adapted = logging.LoggerAdapter(log, {"where": "here"})
kept = io.StringIO()
apart = logging.getLogger("apart")
apart.propagate = False
apart.addHandler(logging.StreamHandler(kept))
collected = []


class Collector(logging.Handler):
    def emit(self, record):
        collected.append((record.name, record.getMessage()))


class OnlyEven(logging.Filter):
    def filter(self, record):
        return "odd" not in record.getMessage()


verbose.addHandler(Collector())
verbose.addFilter(OnlyEven())


def every():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        print("printed", i)
        log.info("at %d", i)
        verbose.debug("%s %d", "odd" if i % 2 else "even", i)
        quiet.warning("never")
        part = [i]
        adapted.warning("a list: %s", part)
        part.append(i)
        apart.error("apart %s", i)
        out[i] = len(part)
    print(out.sum())


def rarely():
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        if i % 9 == 7:
            try:
                out[i] = [][i]
            except IndexError:
                log.error("no item %d", i)
                logging.critical("on the root")
        out[i] += i
    print(out.sum())


def quieter():
    logging.disable(logging.WARNING)
    out = np.zeros(SIZE)
    # dlb: parallel
    for i in range(SIZE):
        log.warning("never %d", i)
        log.error("still %d", i)
        out[i] = log.isEnabledFor(logging.INFO)
    logging.disable(logging.NOTSET)
    print(out.sum())


def failing():
    out = np.zeros(SIZE)
    try:
        # dlb: parallel
        for i in range(SIZE):
            log.info("try %d", i)
            out[i] = 1 / (i - 23)
    except ZeroDivisionError as error:
        print(error)
    print(out[:23].tolist())


every()
rarely()
quieter()
failing()
print(kept.getvalue(), collected)
