"""The rules for macOS: well-formed, and what they say of paths, by a reader of their language (S-4)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.processes.rules.profile import Profile, ProfilePlace, WatchedName
from codelaw.adapters.processes.sandboxes import finding, seatbelt
from codelaw.adapters.processes.sandboxes.means import SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch

WS = "/people/a/ws"
PLACES = (
    ProfilePlace(Path("/private/tmp"), "private"),
    ProfilePlace(Path("/people"), "hidden"),
    ProfilePlace(Path("/people/a"), "private"),
    ProfilePlace(Path("/people/a/.cargo/bin"), "read"),
    ProfilePlace(Path(WS), "write"),
    ProfilePlace(Path(f"{WS}/.git"), "write"),
    ProfilePlace(Path(f"{WS}/.git/hooks"), "read"),
    ProfilePlace(Path(f"{WS}/a/b/.env"), "hidden"),
)
WATCHED = (WatchedName(Path(f"{WS}/.vscode"), Path(WS)),)
SEEN = Path("/private/var/folders/x/codelaw-sandbox-1/seen/home")


def parsed(text: str) -> list[Any]:
    """The expressions of a profile; fails on what is not well-formed."""
    tokens = re.findall(r'\s+|[()]|"(?:[^"\\]|\\["\\])*"|[^\s()"]+', text)
    assert "".join(tokens) == text
    stack: list[list[Any]] = [[]]
    for token in tokens:
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif token.strip():
            plain = token[1:-1].replace('\\"', '"').replace("\\\\", "\\") if token.startswith('"') else token
            stack[-1].append(plain)
    assert len(stack) == 1
    return stack[0]


def allowed(rules: list[Any], operation: str, path: str) -> bool:
    """What the last rule says that speaks of the operation and the path."""
    verdict = False
    for rule in rules:
        if rule[0] not in ("allow", "deny"):
            continue
        operations = [word for word in rule[1:] if isinstance(word, str)]
        filters = [word for word in rule[1:] if isinstance(word, list)]
        named = any(
            one in ("default", operation) or (one.endswith("*") and operation.startswith(one[:-1]))
            for one in operations
        )
        meant = not filters or any(
            (kind == "literal" and path == name)
            or (kind == "subpath" and (path == name or path.startswith(f"{name}/")))
            for kind, name, *_ in filters
        )
        if named and meant:
            verdict = rule[0] == "allow"
    return verdict


def rules(network: Any = False, **more: Any) -> list[Any]:
    return parsed(seatbelt.text(Profile(PLACES, Path(WS), network, WATCHED), [SEEN], **more))


@pytest.mark.parametrize(("path", "read", "write"), [
    ("/usr/bin/true", True, False), ("/etc/hosts", True, False), ("/private/tmp/ssh-agent", False, False),
    ("/private/var/folders/y/T/secret", False, False), ("/people/b/key", False, False),
    ("/people/a/.ssh/id", False, False), ("/people/a/.cargo/bin/cargo", True, False), (f"{WS}/a.py", True, True),
    (WS, True, True), (f"{WS}/.git/index", True, True), (f"{WS}/.git/hooks/pre-commit", True, False),
    (f"{WS}/.git/hooks", True, False), (f"{WS}/.vscode/tasks.json", True, False), (f"{WS}/.vscode", True, False),
    (f"{WS}/a/b/.env", False, False), (f"{WS}/a/b/.env.example", True, True), (f"{SEEN}/f", True, True),
    (f"{WS}2/a", False, False),
])  # fmt: skip
def test_what_can_be_read_and_written(path: str, read: bool, write: bool):
    said = rules()
    assert (allowed(said, "file-read-data", path), allowed(said, "file-write-data", path)) == (read, write)


def test_what_is_shut_is_not_carried_away_with_the_folder_it_lies_in():
    said = rules()
    for folder in (WS, f"{WS}/.git", f"{WS}/a", f"{WS}/a/b", f"{WS}/.vscode"):
        assert not allowed(said, "file-write-unlink", folder), folder
    assert allowed(said, "file-write-unlink", f"{WS}/a/c")


def test_the_network():
    def reached(said: list[Any]) -> list[Any]:
        return [rule for rule in said if any(isinstance(word, str) and word.startswith("network") for word in rule)]

    assert reached(rules()) == []
    assert reached(rules(("api.example.org",))) == []
    assert ["allow", "network-outbound", ["remote", "ip"]] in rules(network=True)


@pytest.mark.parametrize("name", ['a"b', "a\\", 'a") (allow default) ("', "#|"])
def test_names_stay_names(name: str):
    places = (ProfilePlace(Path(WS), "write"), ProfilePlace(Path(WS, name), "hidden"))
    said = parsed(seatbelt.text(Profile(places, Path(WS), network=False), []))
    assert not allowed(said, "file-read-data", f"{WS}/{name}")
    assert not allowed(said, "network-outbound", "x")
    assert len(said) == len(
        parsed(seatbelt.text(Profile((places[0], ProfilePlace(Path(WS, "x"), "hidden")), Path(WS), False), []))
    )


@pytest.mark.parametrize("name", ["a\nb", "a\0b", "\x7f"])
def test_what_cannot_be_spelt_is_refused(name: str):
    with pytest.raises(OSError, match="control character"):
        seatbelt.quoted(name)


def test_it_is_used_on_a_mac_that_has_it_and_does_not_count(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(finding.sys, "platform", "darwin")
    scratch = Scratch()
    try:
        means = finding.find_means(scratch, [], {}, ("bubblewrap", "landlock", "seatbelt"))
        assert (means.kind, means.detail) == (None, f"there is no {seatbelt.PROGRAM}")
        monkeypatch.setattr(seatbelt, "supported", lambda: True)
        means = finding.find_means(scratch, [], {}, ("seatbelt",))
        assert means.kind is None
        assert "sandbox-exec does not work here" in means.detail
    finally:
        scratch.close()
    assert not SandboxMeans("seatbelt", "experimental").trusted
    assert "experimental" in SandboxMeans("seatbelt", "experimental").describe(network=False)
