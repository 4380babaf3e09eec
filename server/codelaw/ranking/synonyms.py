"""English words that people and programs use for the same thing, by their stems (X-11).

People ask for mails, films and phones where a catalogue has messages, movies and devices. A group is a line; a word may
stand in several. The groups are general on purpose: none is about one product or one catalogue.
"""

from __future__ import annotations

from codelaw.ranking.stemming import stem

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
