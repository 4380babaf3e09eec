"""The console entry `codelaw`: the words of its command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from codelaw.cli import running
from codelaw.cli.exits import CANCELLED, FAILED, USAGE, leave

NOT_ON_WINDOWS = "Windows is not supported. Install and run codelaw inside WSL 2, which is Linux."
CATEGORIES = ["preference", "fact", "skill", "habit", "event", "context", "constraint", "decision"]
STRATEGIES = ["layered", "full", "last-n", "summary+recent", "span-retrieval", "sliding-window", "auto"]
EFFORTS = ["default", "low", "medium", "high", "xhigh", "max"]
_OFFERED = ", ".join(STRATEGIES)


def entry() -> NoReturn:
    """Run the command of this process's arguments, and end the process with its status."""
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit status: 0 finished, 1 any other end, 2 usage, 130 cancelled."""
    _leave_the_folder_alone()
    try:
        parser = _parser()
        words = sys.argv[1:] if argv is None else argv
        if not words:
            parser.print_help(sys.stderr)
            return USAGE
        arguments, rest = parser.parse_known_args(words)
        _take_words(parser, arguments, rest)
    except SystemExit as stop:  # argparse has printed help (0) or what is wrong (2)
        return stop.code if isinstance(stop.code, int) else USAGE
    if sys.platform == "win32":
        sys.stderr.write(f"codelaw: {NOT_ON_WINDOWS}\n")
        return FAILED
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        from codelaw.cli.conversation.hangup import reopen_closed_streams  # noqa: PLC0415

        reopen_closed_streams()
        return run(arguments)
    except KeyboardInterrupt:
        return CANCELLED
    except BrokenPipeError:
        _silence_stdout()
        return FAILED


def _leave_the_folder_alone() -> None:
    """Import no module from the folder that we happen to be in (S-8): many of ours are imported only when needed.

    `python -m codelaw` puts that folder first, and an empty entry of PYTHONPATH means it.
    """
    import os  # noqa: PLC0415

    import codelaw  # noqa: PLC0415

    own = os.path.dirname(os.path.dirname(os.path.abspath(codelaw.__file__)))  # noqa: PTH100, PTH120
    try:
        here = os.getcwd()  # noqa: PTH109 - pathlib is not loaded yet
    except OSError:
        here = ""  # it is gone
    sys.path[:] = [entry for entry in sys.path if entry == own or (os.path.isabs(entry) and entry != here)]  # noqa: PTH117


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("codelaw", description="A language server with a coding agent inside.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    serve = _command(commands, "serve", "the language server, for editors", running.serve)
    serve.add_argument("--stdio", action="store_true", help="speak over standard input and output (the default)")
    serve.add_argument("--tcp", metavar="HOST:PORT", help="listen on TCP")
    serve.add_argument("--ws", metavar="HOST:PORT", help="listen for WebSockets")
    token = serve.add_mutually_exclusive_group()
    token.add_argument(
        "--token-file",
        metavar="FILE",
        help="the file whose first line is the token of TCP and WebSocket clients "
        "(default: CODELAW_TOKEN, or a new token, which is printed)",
    )
    token.add_argument("--token", help="the token itself; every user of this machine can see it")
    serve.add_argument("--clientProcessId", type=int, metavar="N", help="end when this process ends")

    chat = _command(commands, "chat", "ask something; without TEXT, talk", running.chat)
    chat.add_argument(
        "text", nargs="*", metavar="TEXT", help="the message; what is piped in is added to it, or is the message"
    )
    chat.set_defaults(words="text")
    _of_a_client(chat)
    which = chat.add_mutually_exclusive_group()
    which.add_argument("--chat", metavar="ID", help="go on with this chat")
    which.add_argument(
        "--continue",
        dest="newest",
        action="store_true",
        help="go on with the newest chat of this workspace",
    )
    chat.add_argument("--mode", choices=["agent", "ask", "plan"], help="ask only reads, plan ends with a plan")
    chat.add_argument("--model", metavar="NAME", help="the model to ask")
    chat.add_argument("--effort", metavar="E", choices=EFFORTS, help=f"how much it does: {', '.join(EFFORTS)}")
    chat.add_argument("--strategy", metavar="S", choices=STRATEGIES, help=f"how the context is built: {_OFFERED}")
    chat.add_argument("--json", action="store_true", help="print events as JSON, one a line, the result last")
    chat.add_argument("--yes", action="store_true", help="allow every write and command")
    chat.add_argument(
        "--ignore-settings",
        action="store_true",
        help="go on without settings that cannot be read; every write and command is asked about (not with --yes)",
    )

    chats = _command(commands, "chats", "list the chats, newest first", running.chats)
    chats.add_argument("query", nargs="?", metavar="QUERY", help="look for this in titles and messages")
    _of_a_client(chats)
    chats.add_argument("--limit", type=_count, default=20, metavar="N", help="how many to list (default: 20)")
    chats.add_argument("--json", action="store_true", help="one chat a line")
    whole = chats.add_mutually_exclusive_group()
    whole.add_argument("--export", metavar="ID", help="print the whole record of this chat, list nothing")
    whole.add_argument("--fork", metavar="ID", help="make a chat that begins as this one did, list nothing")
    whole.add_argument("--delete", metavar="ID", help="delete this chat for good, list nothing; asks first")
    chats.add_argument("--yes", action="store_true", help="with --delete: do not ask")
    chats.add_argument("--format", choices=["markdown", "json"], help="the format of --export (default: markdown)")
    chats.add_argument(
        "--turn", metavar="ID", help="with --fork: the last turn of the new chat (default: the newest that has ended)"
    )

    context = _command(commands, "context", "show what the model would be sent now", "commands.context:context")
    context.add_argument("text", nargs="?", metavar="TEXT", help="show the context for this question")
    _of_a_client(context)
    context.add_argument("--chat", metavar="ID", help="the chat to show (default: a new one)")
    shown = f"show this strategy, the chat is not changed: {_OFFERED}"
    context.add_argument("--strategy", metavar="S", choices=STRATEGIES, help=shown)
    context.add_argument("--exact", action="store_true", help="ask the vendor to count, which is free")
    context.add_argument("--json", action="store_true", help="the whole report as JSON")

    _memory_commands(commands)
    _trust_commands(commands)
    _server_commands(commands)

    _finding_commands(commands)

    words = "write a message for what is staged, else for all changes; commit nothing"
    message = _command(commands, "commit-message", words, "commands.finding:commit_message")
    _of_a_client(message)
    message.set_defaults(json=False)

    doctor = _command(
        commands,
        "doctor",
        "what is configured, where from, and what works",
        "commands.doctor:doctor",
    )
    _of_a_client(doctor)
    doctor.add_argument("--json", action="store_true", help="findings and settings as JSON")

    _command(commands, "schema", "the types of the wire, and the settings, as JSON Schema", running.schema)
    return parser


def _memory_commands(commands: Any) -> None:
    summary = "what is remembered beyond a chat"
    group: argparse.ArgumentParser = commands.add_parser("memory", help=summary, description=summary)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    about: dict[str, tuple[str, str | None, bool]] = {
        "list": ("list it, newest first", None, False),
        "search": ("what answers QUERY best", "query", False),
        "save": ("remember TEXT", "text", True),
        "update": ("change what is remembered under ID", "id", True),
        "forget": ("forget what is remembered under ID, for good", "id", False),
        "backfill": ("embed at once what waits for it", None, False),
    }
    for name, (reported, argument, writes) in about.items():
        action = _command(actions, name, reported, "commands.memory:memory")
        action.set_defaults(action=name)
        if argument is not None:
            action.add_argument(argument, metavar=argument.upper(), type=_words)
        if name == "update":
            action.add_argument("--text", metavar="TEXT", help="the new text")
        _of_a_client(action)
        if name != "forget":
            action.add_argument("--chat", metavar="ID", help="include what belongs to this chat alone")
        if name in ("list", "search") or writes:
            action.add_argument("--category", choices=CATEGORIES, help="what kind of entry it is")
        if name == "list" or writes:
            action.add_argument("--scope", choices=["user", "project", "session"], help="for whom it counts")
        if writes:
            action.add_argument("--confidence", type=_share, metavar="C", help="how sure it is, from 0 to 1")
        if name in ("list", "search"):
            most = 100 if name == "list" else 10
            action.add_argument(
                "--limit", type=_count, default=most, metavar="N", help=f"how many to list (default: {most})"
            )
        action.add_argument("--json", action="store_true", help="one entry a line")


def _finding_commands(commands: Any) -> None:
    search = _command(
        commands,
        "search",
        "find code and documentation of the workspace by meaning",
        "commands.finding:search",
    )
    search.add_argument("text", nargs="+", metavar="TEXT", help="words, names or a sentence")
    search.set_defaults(words="text")
    search.add_argument("--path", metavar="P", help="only in this file or folder")
    search.add_argument("--kind", choices=["definition", "use", "doc", "any"], help="what to look for (default: any)")
    search.add_argument("--limit", type=_count, default=10, metavar="N", help="how many to list (default: 10)")
    _of_a_client(search)
    search.add_argument("--json", action="store_true", help="one place a line")

    index = _command(
        commands,
        "index",
        "what is indexed of the workspace, and what is left out",
        "commands.finding:index",
    )
    index.add_argument("--rebuild", action="store_true", help="make it anew")
    _of_a_client(index)
    index.add_argument("--json", action="store_true", help="as JSON")


def _trust_commands(commands: Any) -> None:
    summary = "what was allowed for always"
    group: argparse.ArgumentParser = commands.add_parser("permissions", help=summary, description=summary)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    for name, reported in (("list", "list it"), ("revoke", "take back what has this ID")):
        action = _command(actions, name, reported, "commands.permissions:permissions")
        action.set_defaults(action=name)
        if name == "revoke":
            action.add_argument("id", metavar="ID")
        _of_a_client(action)
        action.add_argument("--json", action="store_true", help="one permission a line")

    audit = _command(
        commands,
        "audit",
        "what was decided, by whom and by which rule",
        "commands.permissions:audit",
    )
    audit.add_argument("--chat", metavar="ID", help="show this chat only")
    audit.add_argument("--limit", type=_count, default=100, metavar="N", help="show the newest N (default: 100)")
    _of_a_client(audit)
    audit.add_argument("--json", action="store_true", help="one entry a line")

    models = _command(
        commands,
        "models",
        "the models that can be chosen, and what they cost",
        "commands.context:models",
    )
    _of_a_client(models)
    models.add_argument("--provider", metavar="P", help="only those of this provider")
    models.add_argument("--json", action="store_true", help="one model a line")
    skills = _command(
        commands,
        "skills",
        "the skills of this folder and your own, and what is wrong with them",
        "commands.servers:skills",
    )
    _of_a_client(skills)
    skills.add_argument("--json", action="store_true", help="one skill a line")

    trust = _command(commands, "trust", "show what a folder's own settings ask for, and let them count", running.trust)
    trust.add_argument("dir", nargs="?", metavar="DIR", default=".", help="the folder (default: here)")
    answer = trust.add_mutually_exclusive_group()
    answer.add_argument("--yes", action="store_true", help="trust it without being asked")
    answer.add_argument("--revoke", action="store_true", help="withdraw the trust")


def _server_commands(commands: Any) -> None:
    summary = "the MCP servers that settings and workspaces name"
    group: argparse.ArgumentParser = commands.add_parser("mcp", help=summary, description=summary)
    actions = group.add_subparsers(metavar="ACTION", required=True)
    reported_of = {
        "list": "list them",
        "enable": "let NAME start",
        "disable": "switch NAME off",
        "logout": "forget the login to NAME",
    }
    for name, reported in reported_of.items():
        action = _command(actions, name, reported, "commands.servers:servers")
        action.set_defaults(action=name)
        if name != "list":
            action.add_argument("name", metavar="NAME")
        if name == "enable":
            action.add_argument("--yes", action="store_true", help="let it start without being asked")
        _of_a_client(action)
        action.add_argument("--json", action="store_true", help="one server a line")


def _command(commands: Any, name: str, summary: str, run: str | Callable[..., int]) -> argparse.ArgumentParser:
    """A command; one that is named by its `module:function` gets a server."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    parser.set_defaults(run=running.with_server(run) if isinstance(run, str) else run, usage_error=parser.error)
    return parser


def _of_a_client(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", metavar="DIR", default=".", help="the folder to work in (default: here)")
    parser.add_argument("--verbose", action="store_true", help="show what the server logs")


def _take_words(parser: argparse.ArgumentParser, arguments: argparse.Namespace, rest: list[str]) -> None:
    """Words of a message may stand between options; anything else that is left over is a usage error."""
    if rest and (getattr(arguments, "words", None) is None or any(word.startswith("-") for word in rest)):
        getattr(arguments, "usage_error", parser.error)(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.text = [*arguments.text, *rest]


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _words(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return share


def _version() -> str:
    from codelaw import __version__  # noqa: PLC0415

    return f"codelaw {__version__}"


def _silence_stdout() -> None:
    """The reader of our output is gone; what Python still flushes at exit must not complain."""
    import os  # noqa: PLC0415

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
