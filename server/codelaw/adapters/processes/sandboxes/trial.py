"""What is tried in a sandbox before it is relied upon (S-4). Run by path in it, with the standard library alone.

Arguments: a folder with the folders `in`, `out` and `secret`, a file in each; the name of the process namespace
outside, or nothing where there is to be none of its own; whether system calls are filtered; the name of a socket
without a file that listens outside, or nothing. Prints a line for each thing that does not hold, and at the end that
it came to it.
"""

from __future__ import annotations

import errno
import os
import socket
import sys

END = "tried"
_VSOCK = 40


def main() -> None:
    """Try everything."""
    room, namespace, filtered, listening = sys.argv[1:]
    wrong: list[str] = []
    if not _opens(f"{room}/in/file", os.O_WRONLY | os.O_TRUNC):
        wrong.append("the workspace cannot be written")
    if _opens(f"{room}/out/file", os.O_WRONLY | os.O_TRUNC):
        wrong.append("files outside the workspace can be written")
    if _opens(f"{room}/secret/file", os.O_RDONLY):
        wrong.append("hidden files can be read")
    if namespace and os.readlink("/proc/self/ns/pid") == namespace:  # noqa: PTH115 - every import costs time
        wrong.append("other processes can be seen")
    if filtered and not _filtered():
        wrong.append("system calls are not filtered")
    if listening and not _refused(f"\0{listening}"):
        wrong.append("sockets without a file can be reached")
    print("\n".join([*wrong, END]))  # noqa: T201 - it is a program


def _opens(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, flags))
    except OSError:
        return False
    return True


def _filtered() -> bool:
    """A kernel has other words than the filter for a pair of internet sockets."""
    try:
        socket.socketpair(socket.AF_INET)
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            return False
    try:
        socket.socket(_VSOCK).close()
    except OSError as error:
        return error.errno == errno.EAFNOSUPPORT
    return False


def _refused(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(name) == errno.EPERM


if __name__ == "__main__":
    main()
