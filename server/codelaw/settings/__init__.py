"""Typed configuration: its layers, and where each value came from.

What a setting does is decided where it is used.
"""

from codelaw.settings.effective import EffectiveSettings, WorkspaceFile, load_settings
from codelaw.settings.model import Settings
from codelaw.settings.places import WORKSPACE_FILE, home, login_name, own_folders, process_environment, user_file
from codelaw.settings.trust import set_trust, trusted_folders

__all__ = [
    "WORKSPACE_FILE",
    "EffectiveSettings",
    "Settings",
    "WorkspaceFile",
    "home",
    "load_settings",
    "login_name",
    "own_folders",
    "process_environment",
    "set_trust",
    "trusted_folders",
    "user_file",
]
