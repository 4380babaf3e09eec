"""What every test stands on: its own home, no keys from outside, and an event loop that may not block."""

from __future__ import annotations

import faulthandler
import inspect
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

from codelaw.settings.sources import SDK_VARIABLES
from codelaw.templates.render import preload
from tests.fakes.postgres import postgres, postgres_url  # noqa: F401 - fixtures for every test
from tests.long import EXAMPLES, WHOLE, long_ones, quick

# A slow machine is no failure, and what fails fails again: only the long form draws new examples each time.
settings.register_profile(
    "codelaw",
    deadline=None,
    derandomize="CODELAW_TEST_LONG" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)

ROOT = Path(__file__).parents[1]
HUNG_SECONDS = int(os.environ.get("CODELAW_TEST_HUNG_SECONDS", "1200"))
LAST_SECONDS = 60
REQUIRED = frozenset(name for name in os.environ.get("CODELAW_TEST_REQUIRE", "").split(",") if name)
"""Programs without which a test fails instead of being skipped; `home` takes it out of what servers see."""


def pytest_configure(config: pytest.Config) -> None:
    """The quick check draws fewer examples, before the first test is imported."""
    settings.register_profile("quick", settings.get_profile("codelaw"), max_examples=EXAMPLES)
    settings.load_profile("quick" if quick(config) else "codelaw")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what would be left out."""
    return True if quick(config) and collection_path in WHOLE else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that only `dev.py test --all` runs."""
    for item in long_ones(items):
        item.add_marker(pytest.mark.long)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Meet `@pytest.mark.needs("nvim")`: skip without the program, or fail where it is required."""
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if shutil.which(program) is not None:
                continue
            if program in REQUIRED:
                pytest.fail(f"{program} is required here and not on PATH", pytrace=False)
            pytest.skip(f"{program} is not on PATH")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Where `ended` does not help, as in a lock or a fixture of many tests, the process says where it stands and ends.

    xdist then counts the test as failed and goes on with another process.
    """
    faulthandler.dump_traceback_later(HUNG_SECONDS + 5 * LAST_SECONDS, exit=True)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    """A test that waits for what never comes fails, far beyond any honest time, instead of hanging the run."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def hung(*_: object) -> None:
        raise TimeoutError(f"the test has not ended within {HUNG_SECONDS} s")

    before = signal.signal(signal.SIGALRM, hung)
    # Again and again: the first one may end a wait that its caller begins anew.
    signal.setitimer(signal.ITIMER_REAL, HUNG_SECONDS, LAST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test cuts the power, and a disk that others keep busy may take half a minute to be sure of a file."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh CODELAW_HOME, and none of the settings or keys of whoever runs the tests.

    Servers speak the text dialect, in which most scripts of replies are written; those that say `auto` have the default.
    """
    for name in list(os.environ):
        if name.startswith(("CODELAW_", "ANTHROPIC_")) or name in SDK_VARIABLES:
            monkeypatch.delenv(name)
    # `mktemp` looks at all earlier folders for the next number.
    homes = tmp_path_factory.getbasetemp() / "homes"
    homes.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=homes))
    monkeypatch.setenv("CODELAW_HOME", str(folder))
    monkeypatch.setenv("CODELAW_MODEL__DIALECT", "react")
    return folder


@cache
def _templates() -> None:
    """As a session does: else the first test of a process that renders one would read it on the event loop."""
    preload()


@pytest.fixture(scope="session")
def guard() -> BlockBuster:
    """Wraps what may block; making it costs more than switching it on."""
    return BlockBuster(scanned_modules="codelaw")


@pytest.fixture(autouse=True)
def unblocked(request: pytest.FixtureRequest, guard: BlockBuster) -> Iterator[None]:
    """A blocking call made by codelaw's own code on the event loop raises; `@pytest.mark.blocking` opts out."""
    if request.node.get_closest_marker("blocking") is not None:
        yield
        return
    if inspect.iscoroutinefunction(request.function):
        _templates()
    guard.activate()
    try:
        yield
    finally:
        guard.deactivate()
