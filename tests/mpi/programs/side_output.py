"""Functions of a module beside programs that write to standard output in other ways than through Python."""

import ctypes
import os
import subprocess

C = ctypes.CDLL(None)


def direct(i):
    os.write(1, f"direct {i}\n".encode())


def child(i):
    subprocess.run(["echo", "child", str(i)], check=True)


def in_c(i):
    C.puts(f"in C {i}".encode())
    C.fflush(None)
