"""Conway's game of life on a torus, from the r-pentomino: five cells that keep a board busy for long.

A dead cell with three living neighbours comes alive; a living one with two or three stays alive. Two boards
take turns: one is read, the other is written. On an endless board there are 116 cells left when the turmoil
ends, in generation 1103; gliders that leave come back on a torus, and it goes on.

The boards stay where they are from generation to generation; what travels is a row to each neighbour, the
first and the last being neighbours too. The population is counted where the cells are.

Cost: every row costs the same.

    python samples/life.py [N [GENERATIONS]]      N x N cells (default 240), GENERATIONS (default 600)
"""

import sys
import zlib

import numpy as np

R_PENTOMINO = ((0, 1), (0, 2), (1, 0), (1, 1), (2, 1))


def seeded(n):
    """A board with the r-pentomino in its middle."""
    board = np.zeros((n, n), dtype=np.uint8)
    for row, column in R_PENTOMINO:
        board[(n // 2 + row) % n, (n // 2 + column) % n] = 1
    return board


def live(board, generations, every):
    """The board some generations later; now and then, the population of the board and of its middle row."""
    n = len(board)
    after = np.zeros_like(board)
    left, right = np.arange(n) - 1, np.arange(n) + 1 - n  # negative subscripts count from the end
    # dlb: iterate
    for generation in range(1, generations + 1):
        alive = 0
        # dlb: parallel
        for i in range(n):
            columns = board[i - 1] + board[i] + board[i + 1 - n]
            around = columns[left] + columns + columns[right]  # the cell itself included
            after[i] = (around == 3) | ((around == 4) & (board[i] == 1))
            alive += int(after[i].sum())
        board, after = after, board
        if generation % every == 0:
            print(f"generation {generation}: {alive} cells, {int(board[n // 2].sum())} in the middle row")
    return board


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    generations = int(sys.argv[2]) if len(sys.argv) > 2 else 600

    board = live(seeded(n), generations, max(1, generations // 6))

    print(f"{n}x{n} cells, {generations} generations")
    print(f"crc32 of the board: {zlib.crc32(board.tobytes()):08x}")


if __name__ == "__main__":
    main()
