"""The real language server with a session that has no engine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NoReturn

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "server")]


async def open_session(**given) -> Any:  # it stands for the resources
    from tests.lsp.fake_session import FakeSession

    return await FakeSession.open(**given)


def main() -> int:
    from codelaw.lsp.server.serve import serve

    parser = argparse.ArgumentParser()
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--tcp")
    parser.add_argument("--ws")
    parser.add_argument("--token")
    parser.add_argument("--clientProcessId", type=int)
    given = parser.parse_args()
    return serve(
        tcp=given.tcp,
        ws=given.ws,
        token=given.token,
        client_process_id=given.clientProcessId,
        open_session=open_session,
    )


def entry() -> NoReturn:
    """End as the real one does."""
    from codelaw.cli.exits import leave

    leave(main())


if __name__ == "__main__":
    entry()
