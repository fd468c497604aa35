"""Hands this process's place over to a fork of a server that has imported the runtime; ends as the fork ends.

Started by the harness as ``python -I -S hand_over.py PROGRAM ARGUMENTS``, under mpiexec or alone; it imports
what is built in alone. The other side is `tests.support.fork_server`.
"""

import _socket
import marshal
import os
import sys

#: Ranks differ in how they hash strings: rank 0 has a server of its own.
PLACE = os.path.join(os.environ["TEST_RUN_SERVERS"], str(min(int(os.environ.get("PMI_RANK", "0")), 1)))
PMI = [int(os.environ["PMI_FD"])] if "PMI_FD" in os.environ else []
REQUEST = marshal.dumps((os.getcwd(), sys.argv[1:], dict(os.environ)))

server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
server.connect(PLACE)
fds = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2, *PMI))
server.sendmsg([len(REQUEST).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
rest = memoryview(REQUEST)
while rest:
    rest = rest[server.send(rest) :]
for fd in PMI:
    os.close(fd)
status = int.from_bytes(server.recv(4), "big", signed=True)
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
