"""A stand-in language server: speaks the wire, plays one scene, writes what it got to a file. Its own small program."""

from __future__ import annotations

import json
import sys
import time
from itertools import count
from pathlib import Path

SCENE, LOG = sys.argv[1], Path(sys.argv[2])
NASTY = "\x1b[31mred\x07\r\x9b2J \u202eright"
OPTIONS = [
    {"id": "once", "title": "Allow once", "kind": "allow_once"},
    {"id": "chat", "title": "Allow in this chat: Bash(make:*)", "kind": "allow_chat"},
    {"id": "always", "title": "Always allow: Bash(make:*)", "kind": "allow_always"},
    {"id": "reject", "title": "Reject", "kind": "reject"},
]
numbers = count(1)


def read():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    if not length:
        sys.exit(1)
    message = json.loads(sys.stdin.buffer.read(length))
    with LOG.open("a", encoding="utf-8") as log:
        log.write(json.dumps(message) + "\n")
    return message


def send(message):
    body = json.dumps({"jsonrpc": "2.0"} | message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def event(kind, turn="t1", **fields):
    params = {"chatId": "c1", "turnId": turn, "seq": next(numbers), "at": 1.0, "event": {"kind": kind} | fields}
    send({"method": "codelaw/chat/event", "params": params})


def ended(stop="finished", **more):
    usage = dict.fromkeys(["inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "totalTokens"], 7)
    result = {"chatId": "c1", "turnId": "t1", "stopReason": stop, "answer": "Hello.", "steps": 2, "usage": usage}
    return result | {"notices": [], "changes": []} | more


def call(status, title="Run make", **more):
    event("tool_call", callId="k", tool="Bash", title=title, status=status, step=1, **more)


def report(**changes):
    whole = {"compacted": True, "reason": "manual", "checkpointId": "cut1", "roundsArchived": 14, "roundsKept": 10}
    whole |= {"tokensBefore": 161_000, "tokensAfter": 62_000, "summary": "model", "seconds": 8.2, "thinned": 0}
    return whole | {"message": ""} | changes


IDLE = {"compacted": False, "roundsArchived": 0, "tokensAfter": 161_000, "summary": "none"}
TIMED_OUT = "Summary generation timed out, keeping recent history only."
REPORTS = {
    "compacts": report(),
    "thinned": report(reason="threshold", roundsArchived=0, summary="none", thinned=12, seconds=0.04),
    "timeout": report(reason="summary_timed_out", summary="none", message=TIMED_OUT),
    "failing": report(reason="summary_failed", message=f"It failed: {NASTY}.", **IDLE),
    "few": report(reason="rounds_not_enough", **IDLE),
}

CONFLICT = {"uri": "file:///w/b.py", "reason": f"b.py was changed since: {NASTY}."}
UNDONE = {
    "plain": {"reverted": [f"{Path.cwd().as_uri()}/a%20%1B.py", "file:///w/c.py"], "conflicts": [CONFLICT]},
    "few": {"reverted": [], "conflicts": []},
}


def compaction(turn):
    """A compaction's events; gives its report."""
    event("compaction", turn, phase="started")
    event("compaction", turn, phase="summarising")
    event("compaction", turn, phase="resting")  # of a newer server
    if SCENE == "endless":
        event("notice", turn, level="info", code="x", message="This takes long.")
        wait_for("$/cancelRequest")
        event("compaction", turn, phase="cancelled")
        return report(reason="cancelled", message="Cancelled, nothing is lost.", **IDLE)
    made = REPORTS[SCENE]
    if SCENE == "timeout":
        event("notice", turn, level="warning", code="summary_timed_out", message=TIMED_OUT)
    event("compaction", turn, phase="failed" if SCENE == "failing" else "finished", report=made)
    return made


def ask_late():
    """A question that comes when the test has typed something, or before the thought that led to it."""
    params = {"chatId": "c1", "turnId": "t1", "callId": "k", "tool": "Bash", "title": "make all", "risk": "execute"}
    params |= {"preview": {"command": "make all"}, "options": OPTIONS}
    if SCENE == "late_question":
        event("thought", delta="Thinking", step=1)
        while not LOG.with_name("typed").exists():
            time.sleep(0.01)
        call("awaiting_approval", title="make all")
    send({"id": 99, "method": "codelaw/approval/request", "params": params})
    if SCENE == "overtaken":
        time.sleep(0.1)
        event("thought", delta="The thought before.", step=1)
        call("awaiting_approval", title="make all")
        time.sleep(0.3)
        event("thought", delta="Something else goes on.", step=2)
    wait_for(id_=99)
    return ended()


def wait_for(method=None, id_=None):
    while True:
        message = read()
        if (method and message.get("method") == method) or (id_ and message.get("id") == id_):
            return message


def play(request):
    event("turn_started", text=request["params"]["text"], mentions=[], mentionsLeftOut=0)
    if SCENE in REPORTS:
        event("compaction", "", phase="started")
        event("compaction", "", phase="cancelled")
        compaction("t1")
        event("answer", delta="Hello.", step=1)
        return ended()
    if SCENE == "plain":
        event("thought", delta="I think", step=1)
        event("thought", delta=" so.", step=1)
        call("pending")
        call("running")
        call("completed", summary="12 lines")
        event("retry", attempt=1, inSeconds=2, reason="overloaded", step=2)
        event("todo", items=[{"content": "first", "status": "completed"}], step=2)
        event("notice", level="warning", code="x", message="Mind the gap.")
        event("answer", delta="Hel", step=2)
        event("answer", delta="lo.", step=2)
        event("usage", contextTokens=50, contextWindow=100, step=2)
        event("kind_of_a_later_version")
        return ended(changes=[{"uri": "file:///a", "path": "a.py", "kind": "modified", "added": 1, "removed": 2}])
    if SCENE == "command":
        mentions = [{"path": "gone.py", "kind": "unresolved", "reminded": False}]
        event("turn_started", text="hi", mentions=mentions, mentionsLeftOut=0)
        call("pending", title="List the files", args={"command": "rm -r build"})
        call("completed", title="List the files", summary="Exit code 0.")
        return ended("cancelled", usage=dict.fromkeys(ended()["usage"], 0))
    if SCENE == "nasty":
        event("thought", delta=NASTY, step=1)
        call("failed", title=NASTY, summary=NASTY)
        event("notice", level="error", code="x", message=NASTY)
        event("answer", delta=NASTY, step=1)
        return ended(answer=NASTY)
    if SCENE == "told":
        params = {"chatId": "c1", "turnId": "t1", "callId": "k", "tool": "Bash", "title": "rm …", "risk": "execute"}
        command = "rm\xa0-rf\u200b \u202ex " + "x" * 20_000
        params |= {"preview": {"command": command}, "description": "List\u3164 the files", "alwaysAsked": True}
        call("awaiting_approval")
        request = params | {"why": "git obeys this file.", "options": OPTIONS}
        send({"id": 99, "method": "codelaw/approval/request", "params": request})
        return ended(answer=json.dumps(wait_for(id_=99).get("result")))
    if SCENE in {"approval", "obeyed"}:
        params = {"chatId": "c1", "turnId": "t1", "callId": "k", "tool": "Bash", "title": "Run make", "risk": "execute"}
        params |= {"preview": {"command": f"make {NASTY}\n" + "\n".join(map(str, range(80)))}, "options": OPTIONS}
        params |= {"alwaysAsked": True} if SCENE == "obeyed" else {}
        call("awaiting_approval")
        send({"id": 99, "method": "codelaw/approval/request", "params": params})
        answer = wait_for(id_=99)
        return ended(answer=json.dumps(answer.get("result")))
    if SCENE in {"late_question", "overtaken"}:
        return ask_late()
    if SCENE == "withdrawn":
        params = {"chatId": "c1", "turnId": "t1", "callId": "k", "tool": "Bash", "title": "Run", "risk": "execute"}
        call("awaiting_approval")
        send({"id": 99, "method": "codelaw/approval/request", "params": params | {"preview": {}, "options": OPTIONS}})
        wait_for("$/cancelRequest")
        send({"method": "$/cancelRequest", "params": {"id": 99}})
        wait_for(id_=99)
        return ended("cancelled")
    if SCENE == "hang":
        event("answer", delta="Wait", step=1)
        wait_for("$/cancelRequest")
        call("interrupted")
        return ended("cancelled")
    if SCENE == "deaf":
        event("answer", delta="Wait", step=1)
        wait_for("$/cancelRequest")
        time.sleep(600)
    if SCENE == "dies":
        sys.stderr.write("first words\nlast words\n")
        sys.stderr.flush()
        sys.exit(3)
    if SCENE == "garbage":
        sys.stdout.buffer.write(b"Content-Length: 5\r\n\r\n{oops")
        sys.stdout.buffer.flush()
        time.sleep(600)
    if SCENE == "failed":
        return ended("failed", error={"code": "auth_failed", "message": "The key is wrong.", "hint": "Get another."})
    if SCENE == "flood":
        for _ in range(20_000):
            event("answer", delta="x" * 100, step=1)
        return ended()
    return ended("finished" if SCENE == "planned" else SCENE)


SEARCHED = []
"""The searches so far: the first comes before the index is whole."""


def main():
    send({"method": "window/logMessage", "params": {"type": 4, "message": "hello"}})
    while True:
        message = read()
        method, id_ = message.get("method"), message.get("id")
        if method == "exit":
            return
        if id_ is None or method is None:
            continue
        if method == "initialize":
            send({"id": id_, "result": {"capabilities": {}}})
            send({"id": 50, "method": "client/registerCapability", "params": {"registrations": []}})
            send({"id": 51, "method": "workspace/configuration", "params": {"items": [{}, {}]}})
            send({"id": 52, "method": "workspace/applyEdit", "params": {"edit": {}}})
        elif method == "codelaw/chat/create":
            send({"id": id_, "result": {"id": "c1"}})
        elif method == "codelaw/chat/send" and SCENE == "refuse":
            data = {"code": "chat_busy", "message": "Busy.", "hint": "Wait."}
            send({"id": id_, "error": {"code": -32803, "message": "Busy.", "data": data}})
        elif method == "codelaw/chat/send" and SCENE == "early":
            send({"method": "window/showMessage", "params": {"type": 2, "message": "Still starting"}})
            wait_for("$/cancelRequest")
            send({"id": id_, "error": {"code": -32800, "message": "The request was cancelled"}})
        elif method == "codelaw/chat/send" and SCENE == "invalid":
            data = {"errors": [{"path": "model", "message": "too long"}]}
            send({"id": id_, "error": {"code": -32602, "message": "Invalid params", "data": data}})
        elif method == "codelaw/context/compact" and SCENE in {*REPORTS, "endless"}:
            send({"id": id_, "result": compaction("")})
        elif method in {"codelaw/context/compact", "codelaw/context/restore"} and SCENE == "plain":
            data = {"code": "nothing_to_undo", "message": "There is nothing here.", "hint": ""}
            send({"id": id_, "error": {"code": -32803, "message": "There is nothing here.", "data": data}})
        elif method == "codelaw/chat/read":
            said = [] if SCENE == "compacts" else [{"id": "m9", "turnId": "t1", "role": "assistant", "content": "x"}]
            mode = "plan" if SCENE == "planned" else "agent"
            chat = {"id": "c1", "title": "The chat", "turns": 2, "updatedAt": 1000.0, "running": None, "mode": mode}
            send({"id": id_, "result": {"chat": chat, "messages": said, "events": [], "running": None}})
        elif method == "codelaw/command/list":
            mine = {"name": "review", "description": f"Look {NASTY}", "arguments": "[path]", "source": "review.md"}
            send({"id": id_, "result": {"commands": [mine]}})
        elif method == "codelaw/skill/list":
            pdf = {
                "name": "pdf",
                "description": f"Fill {NASTY}",
                "uri": "file:///pdf/SKILL.md",
                "source": "pdf/SKILL.md",
            }
            other = pdf | {"source": "other/pdf/SKILL.md", "shadowed": "pdf/SKILL.md"}
            taken, odd = pdf | {"name": "review"}, pdf | {"name": "odd", "unreadable": True}
            send({"id": id_, "result": {"skills": [pdf, other, taken, odd]}})
        elif method == "codelaw/agent/list":
            explore = {"name": "explore", "description": "Finds things out.", "mode": "ask"}
            mine = {"name": "mine", "description": f"Look {NASTY}", "uri": "file:///mine.md", "source": "mine.md"}
            mine |= {"tools": ["Read", "Grep"], "disallowedTools": ["LS"], "model": "claude-x", "maxTurns": 3}
            odd = {"name": "odd", "description": "", "uri": "file:///odd.md", "source": "odd.md", "tools": []}
            odd |= {"problem": f"It is odd {NASTY}.", "refused": True}
            send({"id": id_, "result": {"enabled": SCENE != "failed", "agents": [explore, mine, odd]}})
        elif method == "codelaw/chat/revert" and SCENE in UNDONE:
            event("notice", level="info", code="reverted", message="Undone in a.py.")
            send({"id": id_, "result": UNDONE[SCENE]})
        elif method == "codelaw/chat/revert":
            data = {"code": "nothing_to_undo", "message": "Nothing is left.", "hint": ""}
            send({"id": id_, "error": {"code": -32803, "message": "Nothing is left.", "data": data}})
        elif method == "codelaw/search":
            SEARCHED.append(id_)
            send({"id": id_, "result": {"places": [], "indexed": {"fresh": len(SEARCHED) > 1}}})
        elif method == "codelaw/index/status":
            files, pending = (50, 0) if len(SEARCHED) > 1 else (12, 38)
            state = {"files": files, "pending": pending, "chunks": 60, "seconds": 1.0, "state": "ready", "skipped": {}}
            send({"id": id_, "result": state | {"commits": 1, "embedding": False}})
        elif method == "codelaw/context/archive":
            cut = {"id": "cut1", "at": 1000.0, "roundsArchived": 1, "summary": "model", "text": f"# {NASTY}"}
            cuts = [] if SCENE == "plain" else [cut]
            send({"id": id_, "result": {"text": "".join(item["text"] for item in cuts), "checkpoints": cuts}})
        elif method == "codelaw/context/inspect":
            part = {"layer": "L3", "name": "summaries", "tokens": 900, "chars": 9, "cut": False, "cached": True}
            shown = {"sections": [part | {"text": "# Summary"}], "totalTokens": 900, "contextWindow": 200_000}
            shown |= {"threshold": 160_000, "strategy": "layered", "dropped": [], "text": "# Summary\nof old rounds"}
            send({"id": id_, "result": shown})
        elif method == "codelaw/chat/send":
            result = play(message)
            event("turn_ended", result=result)
            send({"id": id_, "result": result})
        else:
            send({"id": id_, "result": None})


main()
