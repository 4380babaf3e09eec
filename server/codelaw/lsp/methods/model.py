"""`codelaw/model/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import models as wire

if TYPE_CHECKING:
    from codelaw.lsp.server.connection import Connection


async def list_models(connection: Connection, _params: wire.ListModels) -> wire.ModelList:
    return wire.ModelList(models=[wire.Model.of(item) for item in connection.session.models()])


HANDLERS = {
    "codelaw/model/list": list_models,
}
