"""Where codelaw keeps its own things."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import platformdirs

APP = "codelaw"
WORKSPACE_FILE = ".codelaw/config.toml"


def home(environ: Mapping[str, str]) -> Path:
    """The data folder: `CODELAW_HOME`, or the platform's folder for an application's data."""
    moved = environ.get("CODELAW_HOME")
    return Path(moved).expanduser().absolute() if moved else platformdirs.user_data_path(APP, appauthor=False)


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's settings file: in `CODELAW_HOME`, or in the platform's folder for configuration."""
    moved = environ.get("CODELAW_HOME")
    folder = Path(moved).expanduser().absolute() if moved else platformdirs.user_config_path(APP, appauthor=False)
    return folder / "config.toml"


def own_folders(environ: Mapping[str, str]) -> list[Path]:
    """Where codelaw's data, settings and logs may lie, moved or not; commands in the sandbox see none of it (S-4)."""
    usual = [
        platformdirs.user_data_path(APP, appauthor=False),
        platformdirs.user_config_path(APP, appauthor=False),
        platformdirs.user_state_path(APP, appauthor=False),
        platformdirs.user_cache_path(APP, appauthor=False),
    ]
    return list(dict.fromkeys([home(environ), user_file(environ).parent, *usual]))


def account_name() -> str:
    """Whose personal memories count here (B-6): the account that this process runs as, which no variable chooses."""
    try:
        import pwd  # noqa: PLC0415 - not on Windows

        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "user"
    except ImportError:
        return os.getlogin()


def person(*, shared: bool) -> str:
    """Whose standing permissions count (S-1).

    In a database that others use as well, accounts of one name are many people's: there the account's number and the
    machine, which no variable chooses either, are in it as a digest.
    """
    name = account_name()
    if not shared:
        return name
    import platform  # noqa: PLC0415 - most people never need it

    # Containers of one image may have the same id.
    machine = " ".join((*map(_content, _MACHINE), platform.node()))
    number = os.getuid() if hasattr(os, "getuid") else name
    return f"{name}@{hashlib.sha256(f'{number} {machine}'.encode()).hexdigest()[:16]}"


_MACHINE = ("/etc/machine-id", "/var/lib/dbus/machine-id")


def _content(path: str) -> str:
    try:
        return Path(path).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def process_environment() -> Mapping[str, str]:
    """The environment of this process; the one place that reads it."""
    return dict(os.environ)
