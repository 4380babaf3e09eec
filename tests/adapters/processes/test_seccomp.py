"""The filter of system calls: its program step by step, and what it does in a real sandbox (S-4)."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys

import pytest

from codelaw.adapters.processes.sandbox import Sandbox, SandboxMeans
from codelaw.adapters.processes.sandboxes import finding, seccomp
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


@pytest.mark.parametrize(("family", "protocol", "said"), [
    (socket.AF_UNIX, 0, ALLOW), (socket.AF_INET, 0, ALLOW), (10, 0, ALLOW), (16, 0, ALLOW),
    (16, 16, "EAFNOSUPPORT"), (40, 0, "EAFNOSUPPORT"), (38, 0, "EAFNOSUPPORT"), (17, 3, "EAFNOSUPPORT"),
    (30, 0, "EAFNOSUPPORT"), (0, 0, "EAFNOSUPPORT"), (45, 0, "EAFNOSUPPORT"),
])  # fmt: skip
def test_families_of_sockets(machine: str, family: int, protocol: int, said: str):
    assert verdict(machine, "socket", family, 1, protocol) == said
    # The kernel looks at the lower half of an argument, and so must the filter.
    assert verdict(machine, "socket", family | 1 << 32, 1, protocol | 1 << 32) == said


def test_sockets_of_the_machine_can_be_denied_while_pairs_stay(machine: str):
    assert verdict(machine, "socket", 1, 1, 0, unix=False) == "EAFNOSUPPORT"
    assert verdict(machine, "socketpair", 1, 1, 0, unix=False) == ALLOW
    assert verdict(machine, "socketpair", 2, 1, 0) == "EAFNOSUPPORT"
    assert verdict(machine, "socket", 2, 2, 0, internet=False) == "EAFNOSUPPORT"


@pytest.mark.parametrize(("call", "said"), [
    ("io_uring_setup", "ENOSYS"), ("clone3", "ENOSYS"), ("keyctl", "EPERM"), ("add_key", "EPERM"),
    ("request_key", "EPERM"), ("userfaultfd", "EPERM"), ("bpf", "EPERM"), ("perf_event_open", "EPERM"),
    ("mount", "EPERM"), ("fsopen", "EPERM"), ("open_by_handle_at", "EPERM"), ("setns", "EPERM"),
    ("kexec_load", "EPERM"), ("open_tree", "EPERM"),
])  # fmt: skip
def test_calls_that_nobody_needs(machine: str, call: str, said: str):
    assert verdict(machine, call) == said


def test_namespaces_of_ones_own(machine: str):
    for flags in (0x10000000, 0x10000011, 0x7C020000, 0x10000000 | 1 << 40):
        assert verdict(machine, "clone", flags) == "EPERM"
        assert verdict(machine, "unshare", flags) == "EPERM"
    assert verdict(machine, "clone", 0x3D0F00) == ALLOW  # a thread
    assert verdict(machine, "clone", 0x1200011) == ALLOW  # a fork
    assert verdict(machine, "unshare", 0x400) == ALLOW  # files
    assert verdict(machine, "unshare", 0x80) == "EPERM"  # time


def test_terminals_are_not_typed_into(machine: str):
    for request in (0x5412, 0x541C, 0x5412 | 1 << 32):
        assert verdict(machine, "ioctl", 0, request) == "EPERM"
    assert verdict(machine, "ioctl", 0, 0x5401) == ALLOW


def test_foreign_machines_and_other_numbers(machine: str):
    assert verdict(machine, "ioctl", kernel=0x40000003) == KILL
    other = next(name for name in MACHINES if name != machine)
    assert verdict(machine, "ioctl", kernel=MACHINES[other]) == KILL
    assert verdict("x86_64", 0x40000000 | 41, 40) == "ENOSYS"
    assert verdict(machine, 7) == ALLOW


def test_no_program_is_left_that_makes_others_the_user(machine: str):
    assert verdict(machine, "fchmodat", 0, 0, 0o4755) == "EPERM"
    assert verdict(machine, "fchmodat2", 0, 0, 0o4755) == "EPERM"
    assert verdict(machine, "fchmodat", 0, 0, 0o2755) == ALLOW
    assert verdict(machine, "openat", 0, 0, os.O_CREAT, 0o4755) == "EPERM"
    assert verdict(machine, "openat", 0, 0, 0, 0o4755) == ALLOW
    assert verdict(machine, "openat2") == "ENOSYS"


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
async def test_in_the_sandbox(around: World, network: bool):
    """Also with the network shared nothing reaches a socket that is not a file, and no descriptor of ours is passed on."""
    sandbox = around.sandbox("bubblewrap")
    means = await sandbox.means()
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
    await sandbox.close()


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
async def test_with_the_network_shared_sockets_without_a_file_are_out_of_reach(around: World, scoped: bool):
    """Landlock's scope cuts them off where there is one, else the filter knows no such sockets at all."""
    sandbox = around.sandbox("bubblewrap")
    means = await sandbox.means()
    if not means.scoped:
        pytest.skip("landlock has no scope here")
    if not scoped:
        means = SandboxMeans(means.kind, "", means.program, means.users, means.sealed, filtered=True)
    (around.ws / "try.py").write_text(CONNECT)
    name = around.abstract.getsockname()[1:].decode()
    command = f"{INTERPRETER} try.py {name}"
    result = await around.processes(sandbox, means, network=True).run(command, cwd=around.ws, timeout=150)
    await sandbox.close()
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
