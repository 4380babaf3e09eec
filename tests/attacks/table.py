"""The table of attacks: all rows, and how many of them are known to get through (S-1 to S-8)."""

from __future__ import annotations

from tests.attacks.known import known
from tests.attacks.row import Attack, Means
from tests.attacks.rows.consent import CONSENT
from tests.attacks.rows.deciding import DECIDING
from tests.attacks.rows.endpoints import ENDPOINTS
from tests.attacks.rows.exhausting import EXHAUSTING
from tests.attacks.rows.git import GIT, RULES
from tests.attacks.rows.hiding import HIDING
from tests.attacks.rows.kernel import KERNEL
from tests.attacks.rows.left import LEFT_BEHIND
from tests.attacks.rows.listeners import LISTENERS
from tests.attacks.rows.meanwhile import MEANWHILES
from tests.attacks.rows.obeyed import AT_HOME, CHANGED, LINKS, MORE, NEW, OTHERS, OUTSIDE
from tests.attacks.rows.paths import PATHS
from tests.attacks.rows.processes import PROCESSES
from tests.attacks.rows.reaching import REACHING
from tests.attacks.rows.repositories import REPOSITORIES
from tests.attacks.rows.rights import LEFT, RIGHTS
from tests.attacks.rows.secrets import SECRETS
from tests.attacks.rows.served import SERVED
from tests.attacks.rows.sockets import NAMED, SOCKETS
from tests.attacks.rows.spellings import JUDGED
from tests.attacks.rows.started import STARTED
from tests.attacks.rows.writing import OURSELVES, WRITING

ROWS: tuple[Attack, ...] = (
    *WRITING,
    *OURSELVES,
    *SECRETS,
    *PROCESSES,
    *RIGHTS,
    *LEFT,
    *SOCKETS,
    *NAMED,
    *(*GIT, *RULES, *REPOSITORIES),
    *(*CHANGED, *AT_HOME, *MORE, *NEW, *OTHERS, *OUTSIDE, *LINKS),
    *DECIDING,
    *MEANWHILES,
    *LEFT_BEHIND,
    *PATHS,
    *KERNEL,
    *HIDING,
    *REACHING,
    *STARTED,
    *CONSENT,
    *SERVED,
    *LISTENERS,
    *ENDPOINTS,
    *EXHAUSTING,
    *JUDGED,
)
TABLE = tuple(map(known, ROWS))
KNOWN_AT_MOST: dict[Means, int] = {"bubblewrap": 5, "landlock": 119, "none": 235}
"""How many rows may get through after an approval; these numbers only ever go down."""
