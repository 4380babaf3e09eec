"""The process of an ordinary user's: takes attacks on stdin, one `means: name` a line, and tells outcomes as JSON lines."""

from __future__ import annotations

import asyncio
import json
import sys

from codelaw.cli.privileges import keep_memory
from tests.attacks.running import reported, rows_of, run
from tests.attacks.table import TABLE


async def main() -> None:
    keep_memory()  # as the server does
    wanted = set(sys.stdin.read().splitlines())
    async for outcome in run(rows_of(TABLE, wanted or None)):
        print(json.dumps(reported(outcome)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
