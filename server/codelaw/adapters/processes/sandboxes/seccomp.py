"""The filter of system calls that commands in the sandbox run under, as a program for the kernel (S-4).

Mounts and namespaces hold what has a name. The filter denies what has none: kinds of sockets that no namespace cuts
off, calls that go round every other filter, and those that would make a new user namespace, in which a process is root
again. It is made here, for x86_64 and aarch64, and passed to `bwrap` by a descriptor.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterable, Sequence
from functools import cache

Step = tuple[int, int, int, int]
"""One instruction: code, how many steps to leave out when it is true, when it is false, and a constant."""

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
"""On x86_64 a second set of numbers for the same calls begins here."""

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_ROUTE = 0
"""Of netlink, what programs list addresses with before they look up a name."""
_TERMINAL_INPUT, _CONSOLE_INPUT = 0x5412, 0x541C
"""`TIOCSTI` and `TIOCLINUX`: they type into a terminal."""
_NAMESPACES = 0x7E020000
"""`CLONE_NEWUSER` and the others that `clone` knows."""
_TIME_NAMESPACE = 0x80
_SET_USER = 0o4000
_CREATES = 0x400040
"""`O_CREAT` and `O_TMPFILE`: only with them `open` has a mode."""


_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""What the kernel calls them in filters."""
_NUMBERS = """
open 2 -
ioctl 16 29
socket 41 198
socketpair 53 199
clone 56 220
creat 85 -
chmod 90 -
fchmod 91 52
mknod 133 -
pivot_root 155 41
acct 163 89
mount 165 40
umount2 166 39
swapon 167 224
swapoff 168 225
reboot 169 142
init_module 175 105
delete_module 176 106
kexec_load 246 104
add_key 248 217
request_key 249 218
keyctl 250 219
openat 257 56
mknodat 259 33
fchmodat 268 53
unshare 272 97
perf_event_open 298 241
open_by_handle_at 304 265
setns 308 268
finit_module 313 273
kexec_file_load 320 294
bpf 321 280
userfaultfd 323 282
io_uring_setup 425 425
io_uring_enter 426 426
io_uring_register 427 427
open_tree 428 428
move_mount 429 429
fsopen 430 430
fsconfig 431 431
fsmount 432 432
fspick 433 433
clone3 435 435
openat2 437 437
mount_setattr 442 442
fchmodat2 452 452
open_tree_attr 467 467
"""
"""Calls and their numbers on x86_64 and on aarch64."""

_MISSING = "io_uring_setup io_uring_enter io_uring_register clone3"
"""As if the kernel were older: programs have another way. What `clone3` is asked for, a filter cannot see."""
_REFUSED = (
    "add_key request_key keyctl userfaultfd bpf perf_event_open setns open_by_handle_at mount umount2 pivot_root"
    " open_tree open_tree_attr move_mount mount_setattr fsopen fsconfig fsmount fspick kexec_load kexec_file_load"
    " init_module finit_module delete_module swapon swapoff reboot acct"
)
_MODES = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "mknod": 1, "mknodat": 2}
"""Which argument is a mode."""
_OPENS = {"open": (1, 2), "openat": (2, 3)}
"""Which arguments are the flags and the mode."""


def supported() -> bool:
    """Whether a filter can be made for this machine."""
    return platform.machine() in _MACHINES


@cache
def program(machine: str | None = None, *, unix: bool = True, internet: bool = True) -> bytes:
    """The filter as the kernel reads it, for this machine when none is named.

    Whoever runs under it leaves no program by which others become the user outside. `unix` and `internet`: sockets of
    these families may be made. Pairs of the first always may.

    Raises:
        KeyError: the machine is not one of those that are supported.
    """
    made = steps(machine, unix=unix, internet=internet)
    return b"".join(struct.pack("HBBI", *step) for step in made)


def numbers(machine: str) -> dict[str, int]:
    """The numbers of the calls that the filter knows, by name.

    Raises:
        KeyError: the machine is not one of those that are supported.
    """
    column = {"x86_64": 1, "aarch64": 2}[machine]
    rows = [line.split() for line in _NUMBERS.strip().splitlines()]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def descriptor(content: bytes) -> int:
    """A file without a name that holds a filter, or other orders for `bwrap`; to be closed by who asked.

    Raises:
        OSError: it cannot be made.
    """
    made = os.memfd_create("codelaw-orders", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(made), "wb") as file:
            file.write(content)
        os.lseek(made, 0, os.SEEK_SET)
    except BaseException:
        os.close(made)
        raise
    return made


def steps(machine: str | None = None, *, unix: bool = True, internet: bool = True) -> list[Step]:
    """The instructions of `program`."""
    name = machine or platform.machine()
    known = numbers(name)
    out: list[Step] = [_load(_MACHINE), (_EQUAL, 1, 0, _MACHINES[name]), _give(_KILL), _load(_NUMBER)]
    if name == "x86_64":
        out += [(_ABOVE, 0, 1, _X32), _fail(errno.ENOSYS)]

    def on(call: str, body: Sequence[Step]) -> None:
        """`body`, which has to end the filter, at that call; nothing where the machine has no such call."""
        number = known.get(call)
        if number is not None:
            out.extend([(_EQUAL, 0, len(body), number), *body])

    for call in _MISSING.split():
        on(call, [_fail(errno.ENOSYS)])
    for call in _REFUSED.split():
        on(call, [_fail(errno.EPERM)])
    families = ((_UNIX,) if unix else ()) + ((_INET, _INET6) if internet else ())
    route = [(_EQUAL, 0, 3, _NETLINK), _argument(2), (_EQUAL, 0, 1, _ROUTE), _give(_ALLOW)]
    on("socket", [_argument(0), *_one_of(families), *route, _fail(errno.EAFNOSUPPORT)])
    on("socketpair", [_argument(0), *_one_of((_UNIX,)), _fail(errno.EAFNOSUPPORT)])
    on("ioctl", [_argument(1), *_one_of((_TERMINAL_INPUT, _CONSOLE_INPUT), _fail(errno.EPERM)), _give(_ALLOW)])
    on("clone", _unless_bits(0, _NAMESPACES))
    on("unshare", _unless_bits(0, _NAMESPACES | _TIME_NAMESPACE))
    on("openat2", [_fail(errno.ENOSYS)])  # its mode stands behind a pointer
    for call, mode in _MODES.items():
        on(call, _unless_bits(mode, _SET_USER))
    for call, (flags, mode) in _OPENS.items():
        on(call, [_argument(flags), (_ANY_BIT, 1, 0, _CREATES), _give(_ALLOW), *_unless_bits(mode, _SET_USER)])
    return [*out, _give(_ALLOW)]


def _load(offset: int) -> Step:
    return (_LOAD, 0, 0, offset)


def _argument(index: int) -> Step:
    """Load the lower half of an argument: of these the kernel looks at no more."""
    return _load(_FIRST_ARGUMENT + 8 * index)


def _give(verdict: int) -> Step:
    return (_RETURN, 0, 0, verdict)


def _fail(code: int) -> Step:
    return _give(_ERROR | code)


def _one_of(values: Iterable[int], verdict: Step = (_RETURN, 0, 0, _ALLOW)) -> list[Step]:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), verdict)]


def _unless_bits(argument: int, bits: int) -> list[Step]:
    return [_argument(argument), (_ANY_BIT, 0, 1, bits), _fail(errno.EPERM), _give(_ALLOW)]
