"""A command that fails because of the sandbox says so (S-4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codelaw.domain.files import ProcessResult
from codelaw.tools.commands.bash import OWN_SERVER, hint


def ended(stderr: str = "", stdout: str = "", code: int | None = 1) -> ProcessResult:
    return ProcessResult(code, stdout, stderr, 0, 0, timed_out=False, seconds=0.1)


@pytest.mark.parametrize(
    ("stderr", "named"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", "/tmp and nothing else"),
        ("mv: cannot move '.git' to 'x': Device or resource busy", ".git/hooks"),
        ("curl: (6) Could not resolve host: example.com", "tools.bash.network"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "tools.bash.network"),
        ("connect: Network is unreachable", "tools.bash.network"),
        ("npm ERR! getaddrinfo EAI_AGAIN registry", "tools.bash.network"),
        ("cat: .ssh/id: Permission denied", "secrets"),
    ],
)
def test_a_hint_names_what_the_sandbox_forbids_and_the_setting(stderr: str, named: str):
    assert named in (hint(ended(stderr), sandboxed=True) or "")
    assert named in (hint(ended(stdout=stderr), sandboxed=True) or "")
    assert hint(ended(stderr), sandboxed=False) is None
    assert hint(ended(stderr, code=0), sandboxed=True) is None


def test_hosts_that_were_refused_are_named_however_the_command_ended():
    refused = tuple(f"h{number}.example:443: not in tools.bash.network" for number in range(7))
    for code in (0, 1, None):
        reported = hint(replace(ended("curl: (56)", code=code), refused=refused), sandboxed=True) or ""
        assert reported.startswith("The network refused: h0.example:443: not in tools.bash.network; h1.")
        assert "h4.example" in reported
        assert "h5.example" not in reported
        assert "and 2 more. Commands reach only what the user lists in tools.bash.network." in reported


@pytest.mark.parametrize("place", ["localhost:8999", "127.0.0.1:80", "[::1]:8999"])
def test_a_server_of_the_commands_own_that_went_to_the_proxy_is_pointed_out(place: str):
    reported = hint(replace(ended("", code=0), refused=(f"{place}: not in tools.bash.network",)), sandboxed=True) or ""
    assert reported.endswith(f"reached without the proxy, as by {OWN_SERVER}.")
