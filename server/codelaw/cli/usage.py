"""The words of the command line, and the parser that is made of them.

A line is an option or an argument, what it takes, and behind two blanks what it does. `[X]` may be left out, `X...` are
several; `a|b` are the values there are, `N=20` has a default. Of lines that begin with `|` only one can be given.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

CATEGORIES = "preference|fact|skill|habit|event|context|constraint|decision"
STRATEGIES = "layered|full|last-n|summary+recent|span-retrieval|sliding-window|auto"
SCOPES = "user|project|session"
_SAVING = f"""
--chat ID  include what belongs to this chat alone
--category {CATEGORIES}  what kind of entry it is
--scope {SCOPES}  for whom it counts
--confidence SHARE  how sure it is, from 0 to 1
--json  one entry a line
"""

GROUPS = {
    "memory": "what is remembered beyond a chat",
    "permissions": "what was allowed for always",
    "mcp": "the MCP servers that settings and workspaces name",
}
COMMANDS: dict[str, tuple[str, str, str]] = {
    "serve": (
        "serve",
        "the language server, for editors",
        """
--stdio  speak over standard input and output (the default)
--tcp HOST:PORT  listen on TCP
--ws HOST:PORT  listen for WebSockets
|--token-file FILE  the file whose first line is the token of TCP and WebSocket clients \
(default: CODELAW_TOKEN, or a new token, which is printed)
|--token TOKEN  the token itself; every user of this machine can see it
--clientProcessId PID  end when this process ends
""",
    ),
    "chat": (
        "conversation.chat:chat",
        "ask something; without TEXT, talk",
        f"""
[TEXT...]  the message; what is piped in is added to it, or is the message
|--chat ID  go on with this chat
|--continue  go on with the newest chat of this workspace
--mode agent|ask|plan  ask only reads, plan ends with a plan
--model NAME  the model to ask
--effort default|low|medium|high|xhigh|max  how much it does
--strategy {STRATEGIES}  how the context is built
--json  print events as JSON, one a line, the result last
--yes  allow every write and command
--ignore-settings  go on without settings that cannot be read; every write and command is asked about (not with --yes)
""",
    ),
    "chats": (
        "commands.chats:chats",
        "list the chats, newest first",
        """
[QUERY]  look for this in titles and messages
--limit N=20  how many to list
--json  one chat a line
|--export ID  print the whole record of this chat, list nothing
|--fork ID  make a chat that begins as this one did, list nothing
|--delete ID  delete this chat for good, list nothing; asks first
--yes  with --delete: do not ask
--format markdown|json  the format of --export (default: markdown)
--turn ID  with --fork: the last turn of the new chat (default: the newest that has ended)
""",
    ),
    "context": (
        "commands.context:context",
        "show what the model would be sent now",
        f"""
[TEXT]  show the context for this question
--chat ID  the chat to show (default: a new one)
--strategy {STRATEGIES}  show this strategy, the chat is not changed
--exact  ask the vendor to count, which is free
--json  the whole report as JSON
""",
    ),
    "memory list": (
        "commands.memory:memory",
        "list it, newest first",
        f"""
--chat ID  include what belongs to this chat alone
--category {CATEGORIES}  what kind of entry it is
--scope {SCOPES}  for whom it counts
--limit N=100  how many to list
--json  one entry a line
""",
    ),
    "memory search": (
        "commands.memory:memory",
        "what answers QUERY best",
        f"""
QUERY  words or a sentence
--chat ID  include what belongs to this chat alone
--category {CATEGORIES}  what kind of entry it is
--limit N=10  how many to list
--json  one entry a line
""",
    ),
    "memory save": ("commands.memory:memory", "remember TEXT", f"TEXT  what to remember{_SAVING}"),
    "memory update": (
        "commands.memory:memory",
        "change what is remembered under ID",
        f"ID  of the entry\n--text TEXT  the new text{_SAVING}",
    ),
    "memory forget": (
        "commands.memory:memory",
        "forget what is remembered under ID, for good",
        "ID  of the entry\n--json  one entry a line",
    ),
    "memory backfill": (
        "commands.memory:memory",
        "embed at once what waits for it",
        "--chat ID  include what belongs to this chat alone\n--json  one entry a line",
    ),
    "permissions list": (
        "commands.permissions:permissions",
        "list it",
        "--json  one permission a line",
    ),
    "permissions revoke": (
        "commands.permissions:revoke",
        "take back what has this ID",
        "ID  of the permission\n--json  one permission a line",
    ),
    "audit": (
        "commands.permissions:audit",
        "what was decided, by whom and by which rule",
        """
--chat ID  show this chat only
--limit N=100  show the newest N
--json  one entry a line
""",
    ),
    "models": (
        "commands.context:models",
        "the models that can be chosen, and what they cost",
        "--provider NAME  only those of this provider\n--json  one model a line",
    ),
    "skills": (
        "commands.servers:skills",
        "the skills of this folder and your own, and what is wrong with them",
        "--json  one skill a line",
    ),
    "trust": (
        "commands.trust:trust",
        "show what a folder's own settings ask for, and let them count",
        """
[DIR]  the folder (default: here)
|--yes  trust it without being asked
|--revoke  withdraw the trust
""",
    ),
    "mcp list": ("commands.servers:servers", "list them", "--json  one server a line"),
    "mcp enable": (
        "commands.servers:switch",
        "let NAME start",
        "NAME  of the server\n--yes  let it start without being asked\n--json  one server a line",
    ),
    "mcp disable": (
        "commands.servers:switch",
        "switch NAME off",
        "NAME  of the server\n--json  one server a line",
    ),
    "mcp logout": (
        "commands.servers:log_out",
        "forget the login to NAME",
        "NAME  of the server\n--json  one server a line",
    ),
    "search": (
        "commands.finding:search",
        "find code and documentation of the workspace by meaning",
        """
TEXT...  words, names or a sentence
--path PATH  only in this file or folder
--kind definition|use|doc|any  what to look for (default: any)
--limit N=10  how many to list
--json  one place a line
""",
    ),
    "index": (
        "commands.finding:index",
        "what is indexed of the workspace, and what is left out",
        "--rebuild  make it anew\n--json  as JSON",
    ),
    "commit-message": (
        "commands.finding:commit_message",
        "write a message for what is staged, else for all changes; commit nothing",
        "",
    ),
    "doctor": (
        "commands.doctor:doctor",
        "what is configured, where from, and what works",
        "--json  findings and settings as JSON",
    ),
    "schema": ("schema", "the types of the wire, and the settings, as JSON Schema", ""),
}
"""By name: what runs, a function of `main` or `module:function` that is given a server; a summary; the options."""
_OF_A_CLIENT = """
--workspace DIR=.  the folder to work in
--verbose  show what the server logs
"""
_LINE = re.compile(r"(\|?)(\S+)(?: ([^\s=]+)(?:=(\S+))?)? {2}(.+)")


def parser() -> argparse.ArgumentParser:
    """The whole command line; `target` of what it reads is the command's."""
    from codelaw import __version__  # noqa: PLC0415 - read from a file

    made = argparse.ArgumentParser("codelaw", description="A language server with a coding agent inside.")
    made.add_argument("--version", action="version", version=f"codelaw {__version__}")
    commands: Any = made.add_subparsers(metavar="COMMAND", required=True)
    groups: dict[str, Any] = {"": commands}
    for command_name, (target, summary, lines) in COMMANDS.items():
        group, _, action = command_name.rpartition(" ")
        if group not in groups:
            summed = commands.add_parser(group, help=GROUPS[group], description=GROUPS[group])
            groups[group] = summed.add_subparsers(metavar="ACTION", required=True)
        command = groups[group].add_parser(action, help=summary, description=summary, allow_abbrev=False)
        command.set_defaults(target=target, usage_error=command.error, action=action, json=False)
        one_of = None
        common = "" if target in {"serve", "commands.trust:trust", "schema"} else _OF_A_CLIENT
        for only, word, takes, default, reported in _LINE.findall(lines + common):
            one_of = (one_of or command.add_mutually_exclusive_group()) if only else None
            name = word if word.startswith("--") else word.strip("[.]").lower()
            (one_of or command).add_argument(name, **_facts(word, takes, default, reported))
    return made


def take_words(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """What the words say. Those of a message may stand between options; what else is left over is a usage error."""
    arguments, rest = parser.parse_known_args(words)
    texts: Any = getattr(arguments, "text", None)
    if rest and (not isinstance(texts, list) or any(word.startswith("-") for word in rest)):
        getattr(arguments, "usage_error", parser.error)(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        arguments.text = [*texts, *rest]
    return arguments


def _facts(word: str, takes: str, default: str, reported: str) -> dict[str, Any]:
    """What argparse is told of a line."""
    if not word.startswith("--"):
        several = "..." in word
        nargs = ("*" if several else "?") if word.startswith("[") else "+" if several else None
        return {"nargs": nargs, "metavar": word.strip("[.]"), "help": reported, "type": str if nargs else _words}
    if not takes:
        return {"action": "store_true", "help": reported}
    if "|" in takes:
        return {"choices": takes.split("|"), "help": reported}
    given = {"metavar": takes, "type": _TYPES.get(takes, str), "help": reported}
    return given | {"default": default, "help": f"{reported} (default: %(default)s)"} if default else given


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


_TYPES: dict[str, Any] = {"N": _count, "SHARE": _share, "PID": int}
