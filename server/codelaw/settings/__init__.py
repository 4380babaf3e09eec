"""Typed configuration: its layers, and where each value came from."""

from codelaw.settings.effective import EffectiveSettings, load_settings
from codelaw.settings.model import DEFAULT_MODEL, Settings
from codelaw.settings.places import WORKSPACE_FILE, home, process_environment, user_file

__all__ = [
    "DEFAULT_MODEL",
    "WORKSPACE_FILE",
    "EffectiveSettings",
    "Settings",
    "home",
    "load_settings",
    "process_environment",
    "user_file",
]
