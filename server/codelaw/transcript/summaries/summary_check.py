"""Reading a model's summary: its headings in whatever dress, cleaned, or refused with the reason (K-5).

Sections that speak of what is still to come are refused, too: a reader would act on them (K-9).
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codelaw.domain.listing import clipped
from codelaw.domain.models import ModelReply
from codelaw.domain.safety.own_tags import escape, plain
from codelaw.templates.render import render

TITLE = "title"
FILES = "files"
REQUIRED = ("objectives", "context", "milestones", "insights")
"""The headings that a model must write, in order; title and file list are code's own."""

_DRESS = r"[^\w\n`\"'(\[]{0,12}(?:\d{1,2}[.)]\W{0,4})?"
"""Hashes, stars, emoji, a number."""
_TAIL = r"(?:\W{1,8}\w{1,24}){0,5}\W{0,8}\Z"
_WORDS = {
    TITLE: r"archived\W{1,4}sessions?\W{1,4}summary",
    "objectives": r"objectives?\W{1,8}(?:and\W{1,4}|amp\W{1,4})?status",
    "context": r"technical\W{1,4}context",
    "milestones": r"completed\W{1,4}milestones?",
    "insights": r"key\W{1,4}insights?",
    FILES: r"file\W{1,4}systems?\W{1,4}state",
}
_HEADINGS = {name: re.compile(_DRESS + words + _TAIL, re.IGNORECASE) for name, words in _WORDS.items()}
_LONGEST = 120
_OTHER = re.compile(r"[ \t>]*#{1,6}[ \t]+(?P<text>.+?)[ \t#]*\Z")
_TIMES = re.compile(r"\W*contains\W+context\W+from\b|\W*modified files in this archive segment\W*\Z", re.IGNORECASE)
_COMPUTED = re.compile(r"[\s*_>-]*\[?computed(?: by code)?\]?[\s*_.]*", re.IGNORECASE)
_FILE = re.compile(
    r"\W*?`(?P<path>[^`]+)`\W*[:—–-]\s*(?P<said>.+)|[\s*-]+(?P<bare>[\w./-]+\.\w+)\s*[:—–-]\s+(?P<words>.+)"
)
_DONE = re.compile(
    r"\b(?:done|finished|completed?|achieved|answered|resolved|delivered|dropped|given up|abandoned|superseded"
    r"|implemented|fixed|fulfilled|closed|reached|ended)\b|✓|✅|完成|完了|완료|erledigt|abgeschlossen|fertig|terminé|fait\b"
    r"|completad|hecho|concluíd|fatto|completat|выполнен|заверш[её]н|готово|hoàn thành|đã xong",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_GAP = re.compile(r"\n{3,}")
_DESCRIPTION = 160
"""Characters of what is said of a file."""


@dataclass(frozen=True, slots=True)
class Sections:
    """A model's summary, taken apart. Bodies are Markdown, without headings of their own."""

    objectives: str = ""
    context: str = ""
    milestones: str = ""
    insights: str = ""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it says of a file, by path."""

    @property
    def closed(self) -> bool:
        """Whether the objectives say that something came to an end (K-9)."""
        return _DONE.search(self.objectives) is not None


def heading(line: str) -> str | None:
    """Which heading of the template a line is, if any."""
    bare = line.strip()
    if not bare or len(bare) > _LONGEST:
        return None
    return next((name for name, pattern in _HEADINGS.items() if pattern.match(bare)), None)


def other_heading(line: str) -> str | None:
    """The words of a Markdown heading that is not of the template; None for other lines."""
    found = _OTHER.match(line) if heading(line) is None else None
    return found["text"].strip(" *_:") if found else None


def fence(line: str) -> bool:
    """Whether a line opens or closes a block of code."""
    return _FENCE.match(line) is not None


def computed(line: str) -> bool:
    """Whether a line only stands for what code fills in."""
    return _COMPUTED.fullmatch(line) is not None or _TIMES.match(line) is not None


def sections(text: str) -> Sections:
    """What stands under each heading; what stands before the first is left out. Never raises."""
    bodies: dict[str, list[str]] = {}
    body: list[str] | None = None
    inside = False
    for line in text.split("\n"):
        inside ^= fence(line)
        if (name := heading(line)) is not None:
            inside, body = False, bodies.setdefault(name, [])
        elif body is not None:
            words = None if inside else other_heading(line)
            body.append(line if words is None else f"**{words}**")
    return Sections(
        *(_body(bodies.get(name, [])) for name in REQUIRED),
        files=dict(_files(bodies.get(FILES, []))),
    )


def _body(lines: list[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines if not computed(line))
    if len(_FENCE.findall(text)) % 2:
        text += "\n```"
    return _GAP.sub("\n\n", text).strip("\n").removesuffix("\n---").rstrip("\n")


def _files(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        found = None if computed(line) else _FILE.match(line)
        if found is not None:
            path, said = found["path"] or found["bare"], (found["said"] or found["words"]).strip()
            if not computed(said):
                yield path.strip().removeprefix("./"), clipped(said, _DESCRIPTION)


SMALL_SOURCE = 2_000
"""Tokens up to which a summary may be longer than what it sums up."""
_MOST_REPEATS = 12
"""Of one line."""
_DENSITY = 0.09
"""A text that packs smaller than this share says one thing over and over."""
_ECHOED = 2
"""Lines of the instruction that make an echo."""
_NOTHING = re.compile(
    r"[\W_]*(?:null|none|nil|undefined|n/?a|nothing|empty|no summary|empty string)?[\W_]*", re.IGNORECASE
)
_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\n(?P<text>.*?)\n?[ \t]*```\s*", re.DOTALL)
_FINISH = re.compile(r"^[ \t>*_`]*(?:Action[*_]*:[*_]*[ \t]*`?)?Finish[ \t]*\[", re.MULTILINE)
_CALL = re.compile(
    r"^[ \t>*_]*Action[*_]*:[*_]*\s*`?(?!Finish\b)[A-Za-z_][\w.-]*\s*\["
    r"|^[ \t]*<(?:\w+:)?(?:function_calls?|invoke|tool_use|tool_calls?)\b",
    re.MULTILINE,
)
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[\"{\]])")
_PLACEHOLDER = re.compile(r"\[(?![✓✔xX]\]|computed)[^\]\n`]{2,80}\](?!\()")
_MARKS = re.compile(r"^[\s>]*(?:[-*+•]\s+)?(?:\[[✓✔xX]\]\s*)?(?:[*_]{1,3}[^*_\n]{2,40}[*_]{1,3}\s*[:：]?)?")
_NAMES = {
    "objectives": "Objectives & Status",
    "context": "Technical Context",
    "milestones": "Completed Milestones",
    "insights": "Key Insights & Decisions",
}


_CALLED = "a tool was called instead of writing it"


class BadSummary(Exception):
    """A summary that cannot be used; the text says why, for the model and the user."""


def check(
    reply: ModelReply, *, limit_tokens: int, count: Callable[[str], int], source_tokens: int | None = None
) -> str:
    """The model's text without wrapping, unable to forge anything (K-5).

    `limit_tokens` is what it may have, as `count` counts them. `source_tokens` is what it sums up, where it follows the
    template: then it has no preamble either. A rolling summary has no template (B-3).

    Raises:
        BadSummary: it is empty, cut, refused, a call, a loop or too long; of one with a template also: it is headless,
            an echo, no shorter than its source, or speaks of the future.
    """
    said = _said(reply)
    if source_tokens is not None:
        lines, ahead = without_empty_plans(_filled(_headed(said)))
        if ahead:
            raise BadSummary(f"it tells what is still to come ({ahead!r}), and must tell the past only")
        said = "\n".join(lines)
    summary = escape(said.strip()).strip()
    size = count(summary)
    if size > limit_tokens:
        raise BadSummary(f"it is too long: about {size} tokens, and {limit_tokens} are allowed")
    if source_tokens is not None and size >= source_tokens > SMALL_SOURCE:
        raise BadSummary("it is no shorter than what it sums up")
    return summary


def _said(reply: ModelReply) -> str:
    """What a whole reply says, without fence and Finish; a preamble in front of these goes with them."""
    if reply.stop_reason == "refusal":
        raise BadSummary("the model refused to write it")
    if reply.calls or reply.broken_calls or reply.stop_reason == "tool_use":
        raise BadSummary(_CALLED)
    if reply.stop_reason == "max_tokens":
        raise BadSummary("it was cut off by the output limit")
    said = plain(reply.text).strip()
    repeats = Counter(line.strip() for line in said.split("\n") if len(line.strip()) > 3)
    spelt = said.encode("utf-8", "replace")
    dense = len(said) > 2_000 and len(zlib.compress(spelt)) < len(spelt) * _DENSITY
    if dense or max(repeats.values(), default=0) > _MOST_REPEATS:
        raise BadSummary("it repeats itself over and over")
    for _ in range(2):
        if fenced := _FENCED.fullmatch(said):
            said = fenced["text"].strip()
        finish = _FINISH.search(said)
        if finish and not any(heading(line) for line in said[: finish.start()].split("\n")):
            if _CALL.search(said[: finish.start()]):
                raise BadSummary(_CALLED)
            said = said[finish.end() :].strip().removesuffix("```").rstrip(" \n`").removesuffix("]").strip()
    if _NOTHING.fullmatch(said):
        raise BadSummary("it is empty")
    if _CALL.search(said):
        raise BadSummary(_CALLED)
    if _JSON.match(said):
        raise BadSummary("it is JSON, and must be Markdown")
    return said


def _headed(said: str) -> list[str]:
    """The lines from the first heading on.

    Raises:
        BadSummary: headings are missing, doubled or out of order.
    """
    lines = said.split("\n")
    places = [(place, name) for place, line in enumerate(lines) if (name := heading(line)) is not None]
    if not places:
        raise BadSummary("it is not a summary: none of the headings is in it")
    found = [name for _, name in places if name not in {TITLE, FILES}]
    missing = [_NAMES[name] for name in REQUIRED if name not in found]
    if missing:
        raise BadSummary(f"headings are missing: {', '.join(missing)}")
    if found != list(REQUIRED):
        raise BadSummary("its headings are doubled or out of order")
    first = places[0][0]
    body = lines[first:]
    while any(map(fence, lines[max(0, first - 2) : first])) and (not body[-1].strip() or fence(body[-1])):
        body.pop()  # what closes a fence that was opened in front of it
    return body


def _filled(lines: Sequence[str]) -> list[str]:
    """The lines without a hint of the instruction that was left standing.

    Raises:
        BadSummary: the instruction or the bare template was handed back.
    """
    asked = {line.strip() for dialect in ("react", "native") for line in _instruction(dialect)}
    own = [line for line in lines if line.strip() not in asked]
    if len(lines) - len(own) >= _ECHOED:
        raise BadSummary("it repeats the instruction instead of following it")
    said = [_PLACEHOLDER.sub("", _MARKS.sub("", line)) for line in own if not (computed(line) or heading(line))]
    if all(_NOTHING.fullmatch(rest) or fence(rest) for rest in said):
        raise BadSummary("it leaves the template unfilled")
    return own


def _instruction(dialect: str) -> list[str]:
    """The lines of the instruction that nobody writes by chance."""
    text = render("summary", words=0, dialect=dialect, until="", kept=0)
    return [line for line in text.split("\n") if len(line) > 30 and heading(line) is None and not computed(line)]


_LABELLED = re.compile(
    r"(?P<indent>[ \t>]*)(?P<bullet>(?:[-*+•]|\d{1,2}[.)])[ \t]+)?"
    r"(?:[*_]{1,3}(?P<bold>[^*_\n]{2,60}?)[*_]{1,3}[ \t]*[:：]?|(?P<plain>[^*_:：\n]{2,60}?)[:：])(?P<rest>.*)\Z"
)
_TICKED = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,2}[.)])?[ \t]*(?:\[(?:✓|✔|x|X)\]|✓|✔|✅)")
_OPEN_BOX = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[ \](?:[ \t]|\Z)")
_EMPTY = re.compile(
    r"[\W_]*(?:none(?: left| remaining)?|nothing|n/?a|no|nil|keine?|aucune?|ninguno|nenhum|无|無|没有|なし|없음|нет"
    r"|không)?[\W_]*",
    re.IGNORECASE,
)
_GOING_ON = re.compile(r"\W*(?:next|then),?\s+(?:i|we)(?:'ll|\s+(?:will|should|must|need\s+to))\b", re.IGNORECASE)
_STATUS = re.compile(
    r"\W*(?:current\s+)?(?:status|statut|stato|estado|статус|trạng thái|状态|狀態|状況|상태)\W*", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.,;:(–—。，；（]| - ")
_AHEAD = re.compile(
    r"""\W*(?:(?:the|our|my|all)\s+)?(?:
    (?:(?:immediate|suggested|recommended|possible|proposed)\s+)?next\s+(?:steps?|actions?|tasks?|moves?)
    |what(?:'s|\s+is)\s+(?:next|left)|what\s+(?:still\s+)?remains|up\s+next|to\s+be\s+done
    |(?:still\s+)?(?:pending|remaining|outstanding|unfinished|unresolved|upcoming|open|incomplete)
        (?:\s+(?:tasks?|items?|work|steps?|issues?|questions?|points?|asks?|requests?|actions?|todos?))?
    |(?:work\s+)?in[\s-]+progress|current\s+(?:progress|tasks?|work|status|focus|steps?|state)|ongoing(?:\s+\w+)?
    |to[\s-]?dos?(?:[\s-]+list)?|left\s+to\s+do|still\s+to\s+do|follow[\s-]?ups?|action\s+items?
    |future\s+(?:work|steps?|plans?)|planned\s+(?:work|steps?)|plan\s+(?:going\s+)?forward|blockers?
    |下一步.{0,10}|待[办辦处處完].{0,10}|[未尚]未?完成.{0,10}|[后後]续.{0,10}|[后後]續.{0,10}|剩[余餘].{0,10}|[当當]前(?:[进進]度|任[务務]|[状狀][态態]).{0,10}
    |目前(?:的)?(?:[进進]度|任[务務]|[状狀][态態]).{0,10}|正在[进進]行.{0,10}|[进進]行中.{0,10}|接下[来來].{0,10}
    |次の(?:ステップ|作業).{0,10}|今後の.{0,10}|残(?:作業|タスク|りの).{0,10}|未完了.{0,10}|未解決.{0,10}|保留中?.{0,10}|やること.{0,10}|現在の(?:進捗|作業).{0,10}
    |다음\s*(?:단계|작업).{0,10}|할\s*일.{0,10}|남은\s*(?:작업|일).{0,10}|미완료.{0,10}|진행\s*중.{0,10}|보류.{0,10}
    |nächste[rn]?\s+schritte?|offene\s+(?:punkte|aufgaben|fragen|arbeiten)|ausstehend\w*(?:\s+\w+)?|verbleibende\w*(?:\s+\w+)?
    |noch\s+(?:zu\s+(?:tun|erledigen)|offen)|in\s+arbeit
    |(?:les\s+)?prochaines?\s+étapes?|à\s+faire|en\s+attente|en\s+cours|tâches?\s+(?:restantes?|en\s+cours|en\s+attente)
    |reste\s+à\s+faire|points?\s+ouverts?
    |(?:próximos|siguientes)\s+pasos|pendientes?|tareas?\s+pendientes?|por\s+hacer|en\s+curso|en\s+progreso
    |próximos?\s+passos?|próximas?\s+etapas?|pendências|pendentes?|tarefas?\s+pendentes?|a\s+fazer|em\s+andamento
    |prossimi\s+passi|passi\s+successivi|da\s+fare|in\s+sospeso|in\s+corso|attività\s+(?:rimanenti|in\s+sospeso)
    |следующие\s+шаги|дальнейшие\s+(?:шаги|действия)|осталось(?:\s+\w+)?|незаверш\w+(?:\s+\w+)?|в\s+процессе|планы?
    |(?:các\s+)?bước\s+tiếp\s+theo|việc\s+(?:cần|phải)\s+làm|(?:công\s+việc\s+)?còn\s+lại|chưa\s+hoàn\s+thành
    |đang\s+(?:thực\s+hiện|chờ|làm)
    |volgende\s+stappen|openstaand\w*(?:\s+\w+)?|nog\s+te\s+doen|następne\s+kroki|do\s+zrobienia|pozostałe(?:\s+\w+)?
    |nästa\s+steg|sonraki\s+adımlar|yapılacaklar|bekleyen(?:ler|\s+\w+)|langkah\s+(?:selanjutnya|berikutnya)|tertunda
    |الخطوات\s+التالية|المهام\s+(?:المعلقة|المتبقية)|अगले\s+कदम|लंबित.{0,10}
    )\W*""",
    re.IGNORECASE | re.VERBOSE,
)


def without_empty_plans(lines: Sequence[str]) -> tuple[list[str], str]:
    """The lines without headings and labels of the future that have nothing under them.

    The second value names the first that has something; it is empty for a summary that speaks of the past only.
    """
    kept: list[str] = []
    plan: str | None = None
    inside, indent = False, -1
    for line in lines:
        inside = heading(line) is None and inside != fence(line)
        if plan is not None and _under(line, indent):
            if _EMPTY.fullmatch(line):
                continue
            return list(lines), _name(plan)
        ahead, rest, indent = (False, "", 0) if inside else _ahead(line)
        if ahead and not _EMPTY.fullmatch(rest):
            return list(lines), _name(line)
        plan = line if ahead else None
        kept += [] if ahead else [line]
    return kept, ""


def _ahead(line: str) -> tuple[bool, str, int]:
    """Whether a line begins what is still to come, what of it stands on the line, and how far it is indented.

    A heading is indented by -1: all up to the next heading is under it.
    """
    words = other_heading(line)
    if words is not None:
        return _AHEAD.fullmatch(words) is not None, "", -1
    if _OPEN_BOX.match(line) or _GOING_ON.match(line):
        return True, line, 0
    if heading(line) is not None or _TICKED.match(line):
        return False, "", 0
    if line[:1].isalnum() and len(line) <= 60 and _AHEAD.fullmatch(line):
        return True, "", 0
    found = _LABELLED.match(line)
    if found is None:
        return False, "", 0
    label, rest = found["bold"] or found["plain"], found["rest"]
    if _STATUS.fullmatch(label) and _AHEAD.fullmatch(_CLAUSE.split(rest.strip(" *_"))[0]):
        return True, rest, 0
    return _AHEAD.fullmatch(label.strip(" *_#")) is not None, rest.strip(" *_"), len(found["indent"])


def _under(line: str, indent: int) -> bool:
    """Whether a line belongs to the heading or label above it."""
    if heading(line) is not None or other_heading(line) is not None:
        return False
    return indent < 0 or not line.strip() or len(line) - len(line.lstrip()) > indent or not _LABELLED.match(line)


def _name(line: str) -> str:
    return line.strip(" \t#*_>-")[:60]
