"""The filter of system calls: its program step by step, and what it does in a real sandbox (S-4)."""

from __future__ import annotations

import errno
import os
import shutil
import sys

import pytest

from codelaw.adapters.processes.sandbox import Sandbox, SandboxMeans
from codelaw.adapters.processes.sandboxes import finding, seccomp
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import USUAL, World

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL = "allow", "kill"


def verdict(machine: str, call: str | int, *arguments: int, kernel: int | None = None, **kind: bool) -> str:
    """What the kernel would do with a call: it runs the program over the number, the machine and the arguments."""
    steps = seccomp.steps(machine, **kind)
    number = seccomp.numbers(machine)[call] if isinstance(call, str) else call
    words = {0: number, 4: MACHINES[machine] if kernel is None else kernel}
    for index, value in enumerate(arguments):
        words[16 + 8 * index], words[20 + 8 * index] = value & 0xFFFFFFFF, value >> 32
    at, held = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        at += 1
        if code == 0x20:
            held = words.get(constant, 0)
        elif code == 0x06:
            action, data = constant & 0xFFFF0000, constant & 0xFFFF
            return {0x7FFF0000: ALLOW, 0x80000000: KILL, 0x00050000: errno.errorcode.get(data, "?")}[action]
        else:
            true = {0x15: held == constant, 0x35: held >= constant, 0x45: bool(held & constant)}[code]
            at += if_true if true else if_false


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return request.param


VERDICTS = {
    ALLOW: "socket 1 1 0, socket 2 1 0, socket 10 1 0, socket 16 1 0, socketpair 1 1 0, ioctl 0 0x5401, unshare 0x400,"
    " clone 0x3d0f00, clone 0x1200011, fchmodat 0 0 0o2755, openat 0 0 0 0o4755",
    "EAFNOSUPPORT": "socket 16 1 16, socket 40 1 0, socket 38 1 0, socket 17 1 3, socket 30 1 0, socket 0 1 0,"
    " socket 45 1 0, socketpair 2 1 0",
    "ENOSYS": "io_uring_setup, clone3, openat2",
    "EPERM": "keyctl, add_key, request_key, userfaultfd, bpf, perf_event_open, mount, setns, fsopen, open_by_handle_at,"
    " kexec_load, open_tree, clone 0x10000000, clone 0x10000011, clone 0x7c020000, unshare 0x10000000,"
    " unshare 0x7c020000, unshare 0x80, ioctl 0 0x5412, ioctl 0 0x541c, fchmodat 0 0 0o4755, fchmodat2 0 0 0o4755,"
    f" openat 0 0 {os.O_CREAT} 0o4755",
}


@pytest.mark.parametrize("said", VERDICTS)
def test_what_becomes_of_a_call(machine: str, said: str):
    for call in VERDICTS[said].split(","):
        name, *words = call.split()
        arguments = [int(word, 0) for word in words]
        assert verdict(machine, name, *arguments) == said, call
        # The kernel looks at the lower half of an argument, and so must the filter.
        assert verdict(machine, name, *(argument | 1 << 32 for argument in arguments)) == said, call


def test_sockets_of_the_machine_can_be_denied_while_pairs_stay(machine: str):
    assert verdict(machine, "socket", 1, 1, 0, unix=False) == "EAFNOSUPPORT"
    assert verdict(machine, "socketpair", 1, 1, 0, unix=False) == ALLOW
    assert verdict(machine, "socket", 2, 2, 0, internet=False) == "EAFNOSUPPORT"


def test_foreign_machines_and_other_numbers(machine: str):
    other = next(name for name in MACHINES if name != machine)
    for kernel in (0x40000003, MACHINES[other]):
        assert verdict(machine, "ioctl", kernel=kernel) == KILL
    assert verdict("x86_64", 0x40000000 | 41, 40) == "ENOSYS"
    assert verdict(machine, 7) == ALLOW


def test_the_numbers_of_no_two_calls_are_the_same(machine: str):
    numbers = seccomp.numbers(machine)
    assert len(set(numbers.values())) == len(numbers)
    assert len(seccomp.program(machine)) % 8 == 0


INTERPRETER = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
"""Seen in the sandbox also where the one that runs the tests lies in the temporary folder."""
PROGRAM = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(name, number, *arguments):
    got = libc.syscall(number, *arguments)
    print(name, errno.errorcode[ctypes.get_errno()] if got < 0 else "done")
numbers = eval(sys.argv[1])
def opened(family, kind, protocol=0):
    try:
        socket.socket(family, kind, protocol).close()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
print("vsock", opened(40, 1))
print("alg", opened(38, 5))
print("generic netlink", opened(16, 3, 16))
print("unix", opened(1, 1))
print("inet", opened(2, 1))
a, b = socket.socketpair()
a.send(b"x"), b.recv(1)
tried("uring", 425, 1, 0)
tried("keyctl", numbers["keyctl"], 0, -3, 0)
tried("unshare", numbers["unshare"], 0x10000000)
tried("clone", numbers["clone"], 0x10000000, 0, 0, 0, 0)
tried("mount", numbers["mount"], 0, 0, 0, 0, 0)
tried("userfaultfd", numbers["userfaultfd"], 0)
print("open", sorted(map(int, os.listdir("/proc/self/fd")))[:4])
print("names", len(socket.getaddrinfo("localhost", 80)) > 0)
import subprocess, threading
thread = threading.Thread(target=print, args=("thread",))
thread.start(), thread.join()
subprocess.run(["echo", "process"])
"""


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.skipif(sys.platform != "linux", reason="the filter is for Linux")
async def test_in_the_sandbox(around: World, fenced: Fenced, network: bool):
    """Also with the network shared nothing reaches a socket that is not a file, and no descriptor of ours is passed on."""
    sandbox, means = await fenced()
    if not means.trusted:
        pytest.skip(means.lacking or means.detail)
    (around.ws / "try.py").write_text(PROGRAM)
    numbers = {name: seccomp.numbers(os.uname().machine)[name] for name in NUMBERED}
    command = f'{INTERPRETER} -u try.py "{numbers}"'
    result = await around.processes(sandbox, means, network=network).run(command, cwd=around.ws, timeout=150)
    unix = "done" if means.scoped or not network else "EAFNOSUPPORT"
    assert result.stdout.splitlines() == [
        *("vsock EAFNOSUPPORT", "alg EAFNOSUPPORT", "generic netlink EAFNOSUPPORT", f"unix {unix}", "inet done"),
        *("uring ENOSYS", "keyctl EPERM", "unshare EPERM", "clone EPERM", "mount EPERM", "userfaultfd EPERM"),
        *("open [0, 1, 2, 3]", "names True", "thread", "process"),
    ], result


NUMBERED = ("keyctl", "unshare", "clone", "mount", "userfaultfd")
CONNECT = """
import socket, sys
one = socket.socket(socket.AF_UNIX)
print(one.connect_ex("\\0" + sys.argv[1]) == 0)
two = socket.socket(socket.AF_UNIX)
two.bind("\\0of its own"); two.listen()
three = socket.socket(socket.AF_UNIX)
print(three.connect_ex("\\0of its own"))
"""


@pytest.mark.needs("bwrap")
@pytest.mark.skipif(sys.platform != "linux", reason="the filter is for Linux")
@pytest.mark.parametrize("scoped", [True, False])
async def test_with_the_network_shared_sockets_without_a_file_are_out_of_reach(
    around: World, fenced: Fenced, scoped: bool
):
    """Landlock's scope cuts them off where there is one, else the filter knows no such sockets at all."""
    sandbox, means = await fenced()
    if not means.scoped:
        pytest.skip("landlock has no scope here")
    if not scoped:
        means = SandboxMeans(means.kind, "", means.program, means.users, means.sealed, filtered=True)
    (around.ws / "try.py").write_text(CONNECT)
    name = around.abstract.getsockname()[1:].decode()
    command = f"{INTERPRETER} try.py {name}"
    result = await around.processes(sandbox, means, network=True).run(command, cwd=around.ws, timeout=150)
    assert result.stdout == ("False\n0\n" if scoped else "")
    assert scoped or "Address family not supported" in result.stderr
    assert around.breaches(result) == []


@pytest.mark.needs("bwrap")
async def test_a_kernel_that_refuses_the_filter_leaves_a_sandbox_that_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(finding, "_found", {})
    monkeypatch.setattr(seccomp, "program", lambda **_: b"no filter")
    sandbox = Sandbox(list, [], USUAL, kinds=("bubblewrap",))
    means = await sandbox.means()
    await sandbox.close()
    assert (means.kind, means.filtered, means.trusted) == ("bubblewrap", False, False)
    said = means.describe(network=False)
    assert "Its filter of system calls does not work here" in said
    assert "a blanket rule for Bash does not count" in said
    assert "seccomp)" not in said
