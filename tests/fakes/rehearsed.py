"""What a server loads and makes at its beginning and keeps, for `warm` to do before it forks."""

from __future__ import annotations

import asyncio
import importlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.lsp.raw import EVERYTHING


def wire() -> None:
    """What speaks with the client: its modules, and the converter with what it makes at the first `initialize`."""
    from lsprotocol.types import InitializeParams

    from codelaw.lsp.server.server import CodelawServer
    from codelaw.lsp.transport.structuring import converter

    for name in (
        "cli.exits",
        "lsp.server.serve",
        "lsp.server.connection",
        "lsp.methods.handlers",
    ):
        importlib.import_module(f"codelaw.{name}")
    params = {"processId": None, "rootUri": None, "capabilities": EVERYTHING, "workspaceFolders": []}
    answer = CodelawServer(on_exit=lambda _: None).rpc.on_initialize(converter().structure(params, InitializeParams))
    converter().unstructure(answer)


def tokens() -> None:
    """The ranks of the tokenizer."""
    from codelaw.adapters.tokenizer import counter

    counter()


def engine() -> None:
    """What a turn needs: its modules, prompts, certificates, the steps of the schema, and this machine's sandbox."""
    from codelaw.adapters.models.messages.model import MessagesModel
    from codelaw.adapters.processes.sandbox import Sandbox
    from codelaw.adapters.stores.migrations import migrations, statements
    from codelaw.templates.render import preload

    for name in ("app.session", "cli.conversation.hangup", "cli.privileges", "cli.secret"):
        importlib.import_module(f"codelaw.{name}")
    preload()
    for _, _, script in migrations():
        statements(script)

    async def tried(home: Path) -> None:
        model = MessagesModel(None, "http://127.0.0.1:9")
        await model.warm()
        await model.close()
        sandbox = Sandbox(list, [home], os.environ, kinds=("bubblewrap",))
        await sandbox.means()
        await sandbox.close()

    with TemporaryDirectory(prefix="codelaw-rehearsed-") as folder:
        asyncio.run(tried(Path(folder)))
