"""A long command under many rules is judged in proportion, and beside the event loop (S-1, S-6)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

from codelaw.agent.turn.approval import LONG_SUBJECT, Gate, Policy
from codelaw.permissions.policy import CallFacts
from codelaw.permissions.refusing import DenyRules
from codelaw.permissions.rules import Refusal, Rule, parse
from codelaw.permissions.shell import read


def kinds(refusals: Sequence[Refusal | None]) -> set[str]:
    return {refusal[0] for refusal in refusals if refusal}


def test_many_rules_judge_as_each_alone():
    rng = random.Random(11)
    words = ["git", "push", "-C", "x", "$a", "/usr/bin/git", "GIT", "rm", "env", "sh -c 'git push'", "xargs", "*", "-f"]
    specifiers = [
        "git push:*",
        "git:*",
        "git push",
        "rm -f x",
        "/usr/bin/git push:*",
        "env",
        "xargs git:*",
        "a; b",
        "x",
    ]
    seen: Counter[str] = Counter()
    for _ in range(2000):
        deny = [parse(f"Bash({rng.choice(specifiers)})") for _ in range(rng.randint(0, 4))]
        for part in read(" ".join(rng.choice(words) for _ in range(rng.randint(1, 5)))) or ():
            alone = [DenyRules([rule]).judge([part]) for rule in deny]
            refusal = DenyRules(deny).judge([part])
            assert (refusal and refusal[0]) == next((kind for kind in ("deny", "ask") if kind in kinds(alone)), None)
            assert refusal is None or refusal in alone
            seen[refusal[0] if refusal else "pass"] += 1
    assert min(seen[kind] for kind in ("deny", "ask", "pass")) > 50


def gate(deny: tuple[Rule, ...]) -> Gate:
    return Gate(Policy("agent", deny=deny, roots={"/w": ""}), None, None, [])  # type: ignore[arg-type]


async def test_the_loop_goes_round_while_a_long_command_is_judged():
    deny = tuple(parse(f"Read(secret{number}/**)") for number in range(500))
    facts = CallFacts("Bash", "execute", "cat " + " ".join(f"src/{number}*.py" for number in range(1600)))
    judging = asyncio.ensure_future(gate(deny).judge(facts))
    rounds = 0
    while not judging.done():
        rounds += 1
        await asyncio.sleep(0)
    assert judging.result().action == "ask"
    assert rounds > 3


async def test_what_is_forbidden_while_a_long_command_is_judged_is_forbidden():
    made = gate(())
    facts = CallFacts("Bash", "execute", "push x; " + "true; " * LONG_SUBJECT)
    judging = asyncio.ensure_future(made.judge(facts))
    await asyncio.sleep(0)
    made.policy = Policy("agent", deny=(parse("Bash(push:*)"),))
    assert (await judging).action == "deny"
