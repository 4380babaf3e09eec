"""What `@` offers, with one folder and with several (M-4)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import Start

FILES = {
    "front/main.ts": "",
    "front/src/map.ts": "",
    "front/.env": "",
    "back/main.py": "",
    "back/made/out.py": "",
    "back/.gitignore": "made/\n",
    "back/secrets/master.py": "",
}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for name, text in FILES.items():
        file = tmp_path / "all" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return [tmp_path / "all" / name for name in ("front", "back")]


async def offered(client: RawClient, prefix: str, limit: int = 30) -> list[str]:
    found = await client.request("codelaw/context/mentions", {"prefix": prefix, "limit": limit})
    return [item["path"] for item in found["items"] if item["kind"] in {"file", "folder"}]


async def test_with_several_folders_the_first_letter_finds_what_is_open_before_all_else(
    folders: list[Path], home: Path, server: list[str]
) -> None:
    front, back = folders
    options = {"permissions": {"deny": ["Read(secrets/**)"]}}
    async with stdio(server, env={**os.environ, "CODELAW_HOME": str(home)}) as client:
        await client.initialize({}, folders=folders, options=options)
        assert await offered(client, "m") == ["front/main.ts", "back/main.py", "front/src/map.ts"]
        for file in (back / "main.py", front / ".env", back / "made/out.py", back / "secrets/master.py"):
            await client.open(file, "")
        await client.open(front.parent / "outside.py", "")
        await client.open("untitled:master", "")
        await client.open(front / "src/map.ts", "")
        assert await offered(client, "m") == ["front/src/map.ts", "back/main.py", "front/main.ts"]
        assert (await offered(client, ""))[:4] == ["front/src/map.ts", "back/main.py", "front", "back"]
        assert await offered(client, "m", 1) == ["front/src/map.ts"]
        assert await offered(client, "back/m") == ["back/main.py"]
        assert await offered(client, "o") == []


async def test_only_a_few_open_documents_stand_before_the_folders(start: Start, root: Path) -> None:
    files = [root / f"file{number}.py" for number in range(12)]
    (root / "folder").mkdir()
    async with start() as client:
        for file in files:
            file.write_text("", encoding="utf-8")
            await client.open(file, "")
        found = await offered(client, "f")
    assert found[:11] == [*(file.name for file in reversed(files[2:])), "folder"]
    assert sorted(found[11:]) == ["file0.py", "file1.py"]
