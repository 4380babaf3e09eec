"""A command that fails because of the sandbox says so (S-4)."""

from __future__ import annotations

import pytest

from codelaw.domain.files import ProcessResult
from codelaw.tools.sandboxing import hint


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


def test_other_failures_have_no_hint():
    assert hint(ended("AssertionError: 1 != 2"), sandboxed=True) is None
