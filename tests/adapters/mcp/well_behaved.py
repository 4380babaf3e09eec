"""A server as the protocol's own package makes it: `well_behaved.py stdio|http new|old`."""

import json
import socket
import subprocess
import sys
from typing import Annotated

import anyio
import uvicorn
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel

server = MCPServer(
    "well-behaved", version="1", log_level="WARNING", instructions="Add before you paint.\n" + "y" * 30_000
)


class Colour(BaseModel):
    colour: str


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def which() -> Elicit[Colour]:
    return Elicit("Which colour?", Colour)


@server.tool()
async def paint(answer: Annotated[ElicitationResult[Colour], Resolve(which)]) -> str:
    """Asks for a colour."""
    return f"{answer.action}: {answer.data.colour if answer.action == 'accept' else ''}"


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    """Tells of its progress, five times a second."""
    for step in range(steps):
        await anyio.sleep(0.2)
        await ctx.report_progress(step + 1, steps)
    return "worked"


@server.tool()
async def hang() -> str:
    """Never answers."""
    try:
        await anyio.sleep_forever()
    finally:
        print("hang was cancelled", file=sys.stderr, flush=True)
    return ""


@server.tool()
def fail() -> str:
    """Fails."""
    raise ValueError("the number is odd")


@server.tool()
async def grow(ctx: Context) -> str:
    """Brings another tool."""
    server.add_tool(lambda: "grown", name="grown", description="Grown.")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "grew"


@server.prompt()
def greet(who: str) -> str:
    """Greets somebody."""
    return f"Say hello to {who}."


@server.resource("note://today")
def today() -> str:
    """A note."""
    return "Water the plants."


class Older:
    """The same server without the protocol of 2026: what asks for it is answered as a server of before does."""

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        message = await receive()
        if b'"server/discover"' in message["body"]:
            await send({"type": "http.response.start", "status": 400, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"Bad Request"})
            return
        came = [message]
        await self._app(scope, lambda: again(came, receive), send)


async def again(came, receive):
    return came.pop() if came else await receive()


def older_program():
    """Runs the server behind a pipe in which nobody asks for the protocol of 2026."""
    child = subprocess.Popen([sys.executable, __file__, "stdio", "new"], stdin=subprocess.PIPE)
    for line in sys.stdin.buffer:
        if b'"server/discover"' in line:
            unknown = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "error": {"code": -32601, "message": "What?"}}
            print(json.dumps(unknown), flush=True)
            continue
        child.stdin.write(line)
        child.stdin.flush()
    child.stdin.close()
    child.wait()


def web(era):
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    app = server.streamable_http_app()
    config = uvicorn.Config(Older(app) if era == "old" else app, log_level="warning", timeout_graceful_shutdown=1)
    print(listening.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if sys.argv[1] == "http":
        web(sys.argv[2])
    elif sys.argv[2] == "old":
        older_program()
    else:
        server.run()
