"""Searches the folder that it is started in, as a server does that is started there."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from codelaw.domain.files import Folder
from tests.fakes.desk import make_desk


async def main(tool: str, pattern: str) -> None:
    root = Path.cwd().resolve()
    desk = make_desk(Folder(root.name, root, root.as_uri()))
    print((await desk(tool, pattern=pattern)).text)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
