"""A server whose tool answers with pictures: `picture_server.py FILE…` names the files that hold them."""

import sys
from pathlib import Path

from mcp.server.mcpserver import Image, MCPServer

server = MCPServer("shots", log_level="WARNING")


@server.tool()
def shot() -> list[str | Image]:
    """Takes pictures of the screen."""
    return ["Taken.", *(Image(data=Path(path).read_bytes(), format="png") for path in sys.argv[1:])]


server.run()
