"""Where codelaw keeps its own things."""

from __future__ import annotations

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


def login_name() -> str:
    """Whose personal memories count here (B-6): the name by which the user has logged in."""
    import getpass  # noqa: PLC0415 - it loads what terminals need

    try:
        return getpass.getuser()
    except (ImportError, KeyError, OSError):
        return "user"


def process_environment() -> Mapping[str, str]:
    """The environment of this process; the one place that reads it."""
    import os  # noqa: PLC0415 - importing a module reads no environment

    return dict(os.environ)
