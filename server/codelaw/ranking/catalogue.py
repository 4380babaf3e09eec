"""Which entries of a catalogue answer a question, by the words of their fields (X-11).

BM25 over weighted fields (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004),
with words that mean the same. The constants were chosen on one half of the tasks of `benchmarks/tools.py` and checked
on the other; the lengths of fields are those of the tools that it ranks, fixed, so that an entry's weights do not
depend on its neighbours.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codelaw.ranking.words import question_terms, stem, terms

_GROUPS = """
get show list read fetch retrieve view display see look give tell
search find query lookup seek look
create add new make insert put write register generate
delete remove drop erase clear purge discard trash bin destroy uninstall throw
update edit modify change alter set rename move patch adjust
stop end cancel abort kill halt terminate finish close
start run launch execute begin trigger
send post publish share
reply answer respond
download export save
upload import attach put
convert transform turn render
translate translation
merge combine bundle join pack consolidate
copy duplicate clone fork
check verify validate test
approve accept confirm
reject decline deny
schedule plan book
pay buy purchase order
install setup deploy
email mail message
picture image photo photograph
screenshot screen capture snapshot
capture recording record
film movie
song track music
audio sound voice
phone mobile device smartphone
user member people person profile
folder directory
file document
page site website web url
repo repository codebase
issue bug ticket defect
task todo
db database
price cost worth rate quote
weather forecast temperature
stock share equity ticker
crypto coin cryptocurrency token
meeting appointment event
drive distance route direction travel duration
place location address poi
chart graph plot diagram
paper article publication scholar
log record entry
error exception failure crash
team group
channel room
customer client
invoice bill
job build pipeline workflow
summary summarize short brief overview
reference citation cite bibliography
transcript subtitle caption spoken
video clip youtube
emoji reaction like thumb
schema structure field column
note memo
transfer send exchange
currency exchange money
kubernetes k8s kubectl
javascript js
typescript ts
python py
postgres postgresql pg
count number many total
time date when clock
where location
who user owner
weight size big large
link url
shop store product
restaurant food eat
hotel accommodation stay room
flight plane airline
train rail railway station
newspaper headline
comment remark
label tag
version release
branch checkout
commit changeset
secret password credential
permission access role
backup snapshot
metric monitor statistic
alert alarm notification
container docker
server host machine
network ip
cell sheet spreadsheet excel
slide presentation powerpoint
word docx
decide decision
subscribe subscription
describe description
analyze analyse analysis
transcribe transcript
receive receipt
iphone ios
mac macos apple
picture artwork painting art
plan subscription
year yearly annual
code source program script
cancel revoke
expire renew refresh
similar related like
suggest recommend advice
inspect debug
history past previous
latest recent new newest
popular trending top best
login auth authenticate sign
mute silence
speak say speech voice
size resize scale
crop trim cut
limit quota
invite add
answer reply comment
contract agreement document
bill charge
refund return
ship delivery shipping tracking
reach contact
family group
people contact
"""


def _by_stem() -> dict[str, frozenset[str]]:
    known: dict[str, set[str]] = {}
    for line in _GROUPS.split("\n"):
        stems = set(map(stem, line.split()))
        for one in stems:
            known.setdefault(one, set()).update(stems - {one})
    return {one: frozenset(others) for one, others in known.items()}


SYNONYMS = _by_stem()
"""The stems that may stand for a stem; not those that may stand for these in turn."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What can be found, by fields."""

    name: str
    server: str = ""
    """Who has it."""
    description: str = ""
    arguments: str = ""
    """Their names."""
    remarks: str = ""
    """What is said of them."""


_FIELDS = {
    "name": (3.0, 0.3, 4.0),
    "server": (2.0, 0.0, 2.0),
    "description": (1.0, 0.6, 18.0),
    "arguments": (0.6, 0.6, 4.0),
    "remarks": (0.3, 0.7, 10.0),
}
"""What a word in each counts, how much long ones are marked down, and the words of an ordinary one."""
K1 = 1.2
"""How soon a repeated word stops counting."""
SAME = 0.5
"""The share of a word that counts of another which means the same, or begins alike."""
COVERAGE = 0.5
"""The share of an entry's score that depends on how much of the question it has."""
SERVER = 1.3
"""What the score of an entry is multiplied by whose server the question names."""
ALIKE = (6, 5)
"""Letters of a word of the question that no entry has, and of the other, from which a common beginning counts."""
VOCABULARY = 30_000
"""Different words of a catalogue at most; later ones are not indexed."""

_ACRONYMS = re.compile(r"\b([A-Z]{2,})s\b")
_NEWS = re.compile(r"(?:(?<![A-Za-z])[Nn]|(?<=[A-Za-z])N)ews(?![a-z])")
_ANYBODYS = frozenset(terms("mcp server remote tool tools api service information data"))
"""What says nothing in the name of a server."""
_IDLE = frozenset(terms("please want need like let one thing everything something anything say use used using"))
"""What says nothing in a question."""


class Catalogue:
    """Entries, made ready to be searched. Never changed."""

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._places: dict[str, tuple[array[int], array[float]]] = {}
        """By term the entries that have it, and its weights there."""
        self._servers: dict[str, list[int]] = {}
        """By term the entries whose server it names."""
        self._count = 0
        for place, entry in enumerate(entries):
            self._add(place, entry)
            self._count += 1

    def best(self, question: str, most: int) -> list[int]:
        """The places of at most so many entries that have to do with the question, best first; ties in their order."""
        asked = [term for term in question_terms(_plain(question)) if term not in _IDLE]
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        whole = 0.0
        for term in asked:
            variants = {word: share * self._rarity(word) for word, share in self._variants(term).items()}
            if not variants:
                continue
            full = max(variants.values())
            whole += full
            for place, score in self._scored(variants).items():
                scores[place] = scores.get(place, 0.0) + score
                covered[place] = covered.get(place, 0.0) + min(full, score)
        for place, share in covered.items():
            scores[place] *= 1 - COVERAGE + COVERAGE * share / whole
        for place in {place for term in asked for place in self._servers.get(term, ())} & scores.keys():
            scores[place] *= SERVER
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]

    def _add(self, place: int, entry: CatalogueEntry) -> None:
        weights: dict[str, float] = {}
        for name, (weight, b, length) in _FIELDS.items():
            words = Counter(terms(_plain(getattr(entry, name))))
            if name == "server":
                words = Counter(word for word in words if word not in _ANYBODYS)
                for word in words:
                    self._servers.setdefault(word, []).append(place)
            norm = 1 - b + b * words.total() / length
            for word, times in words.items():
                weights[word] = weights.get(word, 0.0) + weight * times / norm
        for word, weight in weights.items():
            known = self._places.get(word)
            if known is None:
                if len(self._places) == VOCABULARY:
                    continue
                known = self._places[word] = (array("I"), array("f"))
            known[0].append(place)
            known[1].append(weight)

    def _rarity(self, word: str) -> float:
        holders = len(self._places[word][0])
        return math.log1p((self._count - holders + 0.5) / (holders + 0.5))

    def _variants(self, term: str) -> dict[str, float]:
        """The words of the catalogue that a term of the question may mean, and their shares."""
        found = {word: SAME for word in SYNONYMS.get(term, ()) if word in self._places}
        if term in self._places:
            return {**found, term: 1.0}
        least, other = ALIKE
        if len(term) >= least:
            alike = (
                word for word in self._places if len(word) >= other and (word.startswith(term) or term.startswith(word))
            )
            found |= dict.fromkeys(alike, SAME)
        return found

    def _scored(self, variants: Mapping[str, float]) -> dict[int, float]:
        """By entry what the best of these words is worth."""
        best: dict[int, float] = {}
        for word, worth in variants.items():
            for place, weight in zip(*self._places[word], strict=True):
                score = worth * weight * (K1 + 1) / (weight + K1)
                if score > best.get(place, 0.0):
                    best[place] = score
        return best


def _plain(text: str) -> str:
    """The text with acronyms in the singular, as `PRs` is not a word of two humps, and news that are not merely new."""
    return _NEWS.sub("Newspaper", _ACRONYMS.sub(r"\1", text))
