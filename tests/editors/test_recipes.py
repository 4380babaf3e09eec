"""What editor-client tells people to copy is what the server understands (E-3)."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from codelaw.protocol.names import COMMANDS, EDITOR_COMMANDS
from codelaw.transcript.chat_file.chat_file import SUFFIX

RECIPES = Path(__file__).parents[2] / "editor-client"
EDITORS = ("emacs", "helix", "neovim")


def test_the_configuration_for_helix_can_be_read() -> None:
    helix = tomllib.loads((RECIPES / "helix" / "languages.toml").read_text("utf-8"))
    assert helix["language-server"]["codelaw"] == {"command": "codelaw", "args": ["serve"]}
    chat = next(language for language in helix["language"] if language["name"] == "codelaw-chat")
    assert chat["file-types"] == [{"glob": f"*{SUFFIX}"}]
    assert all("codelaw" in language["language-servers"] for language in helix["language"])


def test_every_command_that_a_recipe_names_exists() -> None:
    known = {*COMMANDS, *EDITOR_COMMANDS}
    named: set[str] = set()
    for path in (RECIPES / "README.md", *(file for editor in EDITORS for file in (RECIPES / editor).rglob("*"))):
        if path.is_file():
            named |= set(re.findall(r"\bcodelaw\.(?:chatFile|editor|chat|context)\.[a-z]\w*", path.read_text("utf-8")))
    assert named
    assert named <= known, named - known
