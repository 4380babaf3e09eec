"""What the clients in `editor-client/` are generated from is what the server prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCHEMA = Path(__file__).parents[2] / "editor-client" / "src" / "protocol" / "schema.json"


def test_the_client_is_generated_from_what_this_server_prints() -> None:
    printed = subprocess.run([sys.executable, "-m", "codelaw", "schema"], capture_output=True, text=True, check=True)
    known, now = json.loads(SCHEMA.read_text("utf-8")), json.loads(printed.stdout)
    assert sorted(known) == sorted(now)
    for part in now:
        assert known[part] == now[part], f"`codelaw schema > {SCHEMA.name}` and `npm run types`: {part}"
    assert printed.stdout == SCHEMA.read_text("utf-8")
