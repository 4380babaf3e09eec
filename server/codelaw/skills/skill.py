"""Skills: folders with a `SKILL.md` that says how a kind of task is done (X-2).

Read leniently: what is wrong with one is told and keeps nobody from using it.
"""

from __future__ import annotations

import unicodedata

from codelaw.domain.extensions import Sheet, Skill
from codelaw.domain.safety.own_tags import openings
from codelaw.domain.safety.unseen import concealed, without_hidden
from codelaw.skills.front_matter import LONGEST, Written, effort_of, plain_name, written

FILE = "SKILL.md"
PLACES = (".codelaw/skills", ".claude/skills", ".agents/skills", ".github/skills")
"""Where a workspace folder has them; of two with one name the first counts."""
LONGEST_BODY = 50_000
"""Characters of a body, or of another file, that are loaded (S-6)."""
LONGEST_DESCRIPTION = 1_024
"""Characters (the convention's own bound)."""
HEAD = LONGEST + 10_000
"""Characters of a file that say what it is: its head, and the line that stands for a missing description."""
_SHOWN = 80


def name_of(folder: str) -> str:
    """What the skill in a folder of that name is called by: one word, which can be typed; empty where it is none."""
    return "" if folder.startswith((".", ":")) else plain_name(folder)


def skill(sheet: Sheet, folder: str, text: str) -> Skill:
    """Read what a skill says of itself; `text` is its file, or the first `HEAD` characters of it."""
    found = written(text)
    said = found.fields.get("description", "")
    first = next((line.strip().lstrip("#").strip() for line in found.body.splitlines() if line.strip()), "")
    description = " ".join(without_hidden(said or first).split())
    problems = [found.problem, *_of_name(found, sheet.name, folder)]
    if not said.strip():
        problems.append("It has no description: a model cannot tell when to use it.")
    elif len(description) > LONGEST_DESCRIPTION:
        problems.append(f"Its description has {len(description)} characters; the first {LONGEST_DESCRIPTION} count.")
    if next(concealed(said), None) is not None:
        problems.append("Its description holds characters that cannot be seen, which are left out.")
    if next(openings(said), None) is not None:
        problems.append("Its description holds a tag that only codelaw writes.")
    effort, wrong = effort_of(found)
    problems.append(wrong)
    return Skill(sheet, description[:LONGEST_DESCRIPTION], " ".join(filter(None, problems)), effort=effort)


def body_of(text: str) -> tuple[str, bool]:
    """The text below the head, as much of it as is loaded, and whether it goes on."""
    body = written(text).body.strip()
    return body[:LONGEST_BODY], len(body) > LONGEST_BODY


def parted(wanted: str) -> tuple[str, str]:
    """A skill's name, and the path of one of its files behind it; the path is empty for the skill itself."""
    name, _, file = wanted.strip().removeprefix("/").partition("/")
    return name, "" if file == FILE else file


def _of_name(found: Written, name: str, folder: str) -> list[str]:
    problems: list[str] = []
    if name != unicodedata.normalize("NFC", folder):
        problems.append(f"Its folder's name is not a name that can be typed: it is called {name}.")
    said = found.fields.get("name", "").strip()
    if said and said not in {name, folder}:
        short = " ".join(without_hidden(said).split())[:_SHOWN]
        problems.append(f"Its head calls it {short!r}; it is called by its folder, {name}.")
    return problems
