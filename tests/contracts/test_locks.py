"""The locks: whole, hashed, in agreement, and made for what pyproject.toml asks."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = {"mcp": 10, "openai": 1, "local": 2, "postgresql": 2, "tokenizer": 2}
"""What the extension adds later, and how many packages that are at least."""
LATER = [f"requirements-editor/{name}.lock" for name in EXTRAS]
SUITE = "requirements-injection.lock"
LOCKS = ["requirements.lock", "requirements-editor.lock", *LATER, SUITE, "requirements-dev.lock"]


def entries(lock: str) -> dict[str, tuple[str, int]]:
    """Package to its version and how many hashes it has."""
    found: dict[str, tuple[str, int]] = {}
    for block in re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text("utf-8"), flags=re.MULTILINE)[1:]:
        name, version = re.match(r"([a-z0-9._-]+)==(\S+)", block).groups()  # pyright: ignore[reportOptionalMemberAccess]
        found[name] = (version, len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", block)))
    return found


def asked(*extras: str) -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return names(
        [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    )


def needed_to_build() -> set[str]:
    return names(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"])


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~! ]", line, maxsplit=1)[0].lower().replace("_", "-") for line in requirements}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_a_version_and_hashes(lock: str) -> None:
    packages = entries(lock)
    assert len(packages) >= {**EXTRAS, "requirements-injection": 15}.get(Path(lock).stem, 20)
    assert [name for name, (_, hashes) in packages.items() if hashes == 0] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_packages_and_nothing_else(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    odd = [
        line
        for line in text.splitlines()
        if not re.match(r"[a-z0-9._-]+==\S+(?: ; [^\\]+)? \\$|    --hash=sha256:|    # via |#", line)
    ]
    assert odd == []


def test_the_locks_hold_what_was_asked() -> None:
    assert (asked() | needed_to_build()) - set(entries("requirements.lock")) == set()
    assert asked() - set(entries("requirements-editor.lock")) == {"tiktoken"}
    for extra in EXTRAS:
        wanted = {"tiktoken"} if extra == "tokenizer" else asked(extra) - asked()
        assert wanted - set(entries(f"requirements-editor/{extra}.lock")) == set()
    assert (asked("dev") | needed_to_build()) - set(entries("requirements-dev.lock")) == set()


def test_the_extension_installs_no_tools_to_build_with() -> None:
    assert needed_to_build() & set(entries("requirements-editor.lock")) == set()


@pytest.mark.parametrize("lock", LOCKS[:-1])
def test_the_locks_agree(lock: str) -> None:
    own, dev = entries(lock), entries("requirements-dev.lock")
    # The suite brings packages that nothing else needs.
    known = {name: dev.get(name, entry if lock == SUITE else None) for name, entry in own.items()}
    assert {name: (entry, known[name]) for name, entry in own.items() if known[name] != entry} == {}
