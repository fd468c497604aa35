"""A terminal for tests: what stands on it once everything has been written to it."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\x1b\[(\d*)([AJK])|([\r\n])|([^\r\n\x1b]+)")


def screen(text: str) -> list[str]:
    """The lines that stand after ``text``, which moves the cursor by CR, LF, ESC [n A, ESC [J, ESC [K."""
    lines, row, column = [""], 0, 0
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        assert found, f"a control that is not known: {text[at : at + 8]!r}"
        at = found.end()
        count, control, blank, plain = found.groups()
        if control == "A":
            row = max(0, row - int(count or 1))
        elif control in ("J", "K"):
            lines[row] = lines[row][:column]
            if control == "J":
                del lines[row + 1 :]
        elif blank == "\r":
            column = 0
        elif blank == "\n":
            row += 1
            column = 0  # as a terminal does with the output of programs
            lines += [""] * (row + 1 - len(lines))
        else:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + plain + line[column + len(plain) :]
            column += len(plain)
    return lines
