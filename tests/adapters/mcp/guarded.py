"""A server on the web that wants to know who calls, with its own small authority: `guarded.py [METADATA]`."""

import json
import secrets
import socket
import sys
from urllib.parse import parse_qs, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen()
HERE = f"http://127.0.0.1:{listening.getsockname()[1]}"
CODES: set[str] = set()
TOKENS: set[str] = {"a-key-by-hand"}
METADATA = sys.argv[1] if sys.argv[1:] else f"{HERE}/.well-known/oauth-protected-resource"
"""Where it says that is written who lets people in."""


async def resource(request: Request) -> Response:
    return JSONResponse({"resource": f"{HERE}/mcp", "authorization_servers": [HERE]})


async def authority(request: Request) -> Response:
    ways = {
        name: f"{HERE}/{name.split('_')[0]}"
        for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint")
    }
    return JSONResponse(
        {"issuer": HERE, "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"], **ways}
    )


async def registration(request: Request) -> Response:
    return JSONResponse({**await request.json(), "client_id": "codelaw-here"}, status_code=201)


async def authorization(request: Request) -> Response:
    CODES.add(code := secrets.token_hex(8))
    back = urlencode({"code": code, "state": request.query_params["state"]})
    return RedirectResponse(f"{request.query_params['redirect_uri']}?{back}", status_code=302)


async def token(request: Request) -> Response:
    code = parse_qs((await request.body()).decode())["code"][0]
    if code not in CODES:
        return JSONResponse({"error": "invalid_grant"}, status_code=400)
    TOKENS.add(made := secrets.token_hex(8))
    return JSONResponse({"access_token": made, "token_type": "Bearer", "expires_in": 3600})


async def mcp(request: Request) -> Response:
    if request.headers.get("authorization", "").removeprefix("Bearer ") not in TOKENS:
        return Response(status_code=401, headers={"www-authenticate": f'Bearer resource_metadata="{METADATA}"'})
    if request.method != "POST":
        return Response(status_code=405)
    asked = json.loads(await request.body())
    if "id" not in asked:
        return Response(status_code=202)
    about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "guarded", "version": "1"}}
    results = {
        "initialize": {"protocolVersion": "2025-06-18", **about},
        "tools/list": {"tools": [{"name": "tool", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "let in"}]},
    }
    if (result := results.get(asked["method"])) is None:
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "What?"}})
    return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})


app = Starlette(
    routes=[
        Route("/.well-known/oauth-protected-resource", resource),
        Route("/.well-known/oauth-authorization-server", authority),
        Route("/registration", registration, methods=["POST"]),
        Route("/authorization", authorization),
        Route("/token", token, methods=["POST"]),
        Route("/mcp", mcp, methods=["GET", "POST", "DELETE"]),
    ]
)

if __name__ == "__main__":
    print(HERE, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[listening])
