"""Sections of a summary that speak of what is still to come: a reader would act on them (K-5, K-9)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelaw.transcript.summaries.headings import fence, heading, other_heading

_LABELLED = re.compile(
    r"(?P<indent>[ \t>]*)(?P<bullet>(?:[-*+•]|\d{1,2}[.)])[ \t]+)?"
    r"(?:[*_]{1,3}(?P<bold>[^*_\n]{2,60}?)[*_]{1,3}[ \t]*[:：]?|(?P<plain>[^*_:：\n]{2,60}?)[:：])(?P<rest>.*)\Z"
)
_TICKED = re.compile(r"[ \t>]*(?:[-*+•]|\d{1,2}[.)])?[ \t]*(?:\[(?:✓|✔|x|X)\]|✓|✔|✅)")
_OPEN_BOX = re.compile(r"[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[ \](?:[ \t]|\Z)")
_NOTHING = re.compile(
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
    skip = inside = False
    indent = -1
    for line in lines:
        inside = heading(line) is None and inside != fence(line)
        if skip and _under(line, indent) and _NOTHING.fullmatch(line):
            continue
        if skip and _under(line, indent):
            return list(lines), _name(kept.pop())
        if skip:
            kept.pop()
            skip = False
        if inside:
            kept.append(line)
            continue
        ahead, rest, indent = _ahead(line)
        if ahead and not _NOTHING.fullmatch(rest):
            return list(lines), _name(line)
        skip = ahead
        kept.append(line)
    return (kept[:-1] if skip else kept), ""


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
