"""The program that locks itself in and then becomes the shell (S-4). Run by path, with the standard library alone.

Two processes: the outer one stays free, gathers whatever the command leaves behind, and ends it; the inner one takes
on the rules and runs the command in a process group of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # every import costs a command its time
    from collections.abc import Sequence
    from typing import Any

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK, _REFER, _TRUNCATE, _IOCTL = 1 << 6, 1 << 11, 1 << 13, 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_KEPT_CAPABILITIES = (0, 1, 3)
"""CHOWN, DAC_OVERRIDE, FOWNER: root without them could not write a workspace of somebody else's."""
_GRACE = 0.1
"""Seconds between SIGTERM and SIGKILL; the one who started us waits a little longer."""
_NEW_PRIVILEGES, _SECCOMP, _SUBREAPER, _DEATH_SIGNAL, _DROP = 38, 22, 36, 1, 24
_STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def main() -> None:
    """Run the orders in the file that is named."""
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123 - as above
        orders = json.load(file)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)  # of a server that is killed nothing stays
    waited = {*_STOPS, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    inner = os.fork()
    if inner == 0:
        try:
            os.setpgid(0, 0)
            libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)  # which Python ignores
            os.chdir(orders["cwd"])
            _lock_in(libc, orders)
            os.execve(orders["command"][0], orders["command"], orders["environment"])  # noqa: S606 - the shell is in it
        except BaseException as error:  # noqa: BLE001 - nothing may return into the parent's code
            os.write(2, f"The sandbox cannot be set up: {error}\n".encode())
            os._exit(126)
    status = _watch(inner, waited)
    os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


def _watch(inner: int, waited: set[signal.Signals]) -> int:
    """Wait for the command, and end all that it started; its status."""
    status: int | None = None
    deadline = 0.0
    while status is None and (not deadline or time.monotonic() < deadline):
        came = signal.sigtimedwait(waited, 0.02 if deadline else 60)
        if came is not None and came.si_signo in _STOPS and not deadline:
            deadline = time.monotonic() + _GRACE
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(inner, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] == inner:
                    status = ended[1]
    _end_all()
    return signal.SIGKILL if status is None else status


def _end_all() -> None:
    """Kill the children until there are none: the orphans of those that die become ours."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    me = str(os.getpid())
    found: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - as above
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                if file.read().rpartition(b")")[2].split()[1].decode() == me:
                    found.append(int(name))
    return found


def _lock_in(libc: ctypes.CDLL, orders: dict[str, Any]) -> None:
    handled = _FIRST | _REFER | _TRUNCATE | _IOCTL
    writing = handled & ~(_MAKE_CHAR | _MAKE_BLOCK)
    if os.geteuid() == 0:
        for capability in range(64):
            if capability not in _KEPT_CAPABILITIES:
                libc.prctl(_DROP, capability, 0, 0, 0)
    rules = [(path, writing) for path in orders["write"]] + [(path, _READ) for path in orders["read"]]
    restrict(libc, files=handled, network=0 if orders["network"] else 3, rules=rules)
    code = bytes.fromhex(orders["filter"])
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    if libc.prctl(_SECCOMP, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def restrict(libc: ctypes.CDLL, *, files: int, network: int, rules: Sequence[tuple[str, int]] = ()) -> None:
    """Take rules upon the calling thread: what is handled of files and of TCP, with what is allowed all the same.

    Sockets without a file and signals stay within it.

    Raises:
        OSError: the kernel refuses.
    """
    handled = struct.pack("QQQ", files, network, 3)
    ruleset = _call(libc, CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), ctypes.c_uint32(0))
    try:
        for path, access in rules:
            _allow(libc, ruleset, path, access)
        if libc.prctl(_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "no_new_privs")
        _call(libc, RESTRICT_SELF, ruleset, ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # gone since it was listed
    try:
        if os.readlink(f"/proc/self/fd/{place}") != path:  # noqa: PTH115 - as above
            return  # a command that still runs has put a link on the way
        if not os.path.isdir(f"/proc/self/fd/{place}"):  # noqa: PTH112 - as above
            access &= _OF_FILES
        _call(libc, ADD_RULE, ruleset, 1, struct.pack("=Qi", access, place), 0)
    finally:
        os.close(place)


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    answer = libc.syscall(number, *arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


if __name__ == "__main__":
    main()
