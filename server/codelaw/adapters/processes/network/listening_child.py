"""The program that opens a socket in a command's network namespace, hands it out, and becomes the command (S-4).

Run inside the sandbox, by path, with the standard library alone: `listening_child.py CHANNEL PORT PROGRAM …`.
"""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingImports]
import _socket
import os
import sys


def main() -> None:
    """Send the socket through the descriptor that is named, and become the program."""
    channel, port, *command = sys.argv[1:]
    try:
        # Not by `socket`, nor by `signal`: they take longer to import than all the rest.
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", int(port)))
        listener.listen(128)
        out = _socket.socket(fileno=int(channel))
        descriptor = listener.fileno().to_bytes(4, sys.byteorder)
        out.sendmsg([b"\0"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptor)])
        out.close()
        listener.close()
        for number in (13, 25):  # SIGPIPE and SIGXFSZ, which Python ignores
            _signal.signal(number, 0)  # pyright: ignore[reportUnknownMemberType]
        os.execve(command[0], command, _environment())  # noqa: S606 - the shell is in it
    except OSError as error:
        os.write(2, f"The way to the hosts of tools.bash.network cannot be set up: {error}\n".encode())
        os._exit(126)


def _environment() -> dict[bytes, bytes]:
    """The variables that we were started with: Python adds one of its own where no language is set."""
    with open("/proc/self/environ", "rb") as file:  # noqa: PTH123 - every import costs a command its time
        pairs = (entry.partition(b"=") for entry in file.read().split(b"\0"))
    return {name: value for name, found, value in pairs if found}


if __name__ == "__main__":
    main()
