"""Days that a question names, and how near a message's day is to them (B-4).

A message rarely repeats its own date, so the date that a question names must be compared with the time at which the
message was written. (LongMemEval, arXiv 2410.10813, gains 11 points with queries that know time.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS: tuple[str, ...] = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS: tuple[str, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2, "few": 3}

_MONTH = r"(?P<month>" + "|".join((*_MONTHS, *(name[:3] for name in _MONTHS), "sept")) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SPELLED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<number>\d{{1,2}})(?:-{_DAY})?\b",
        rf"\b{_DAY}(?: of)? {_MONTH},?(?: {_YEAR})?",
        rf"\b{_MONTH} {_DAY}\b,?(?: {_YEAR}\b)?",
        rf"\b{_MONTH},? {_YEAR}\b",
        rf"\b(?:in|by|of|during|since|until|early|late|mid|last|this|next)[ -]{_MONTH}",
        rf"\b{_YEAR}\b",
    )
]
_AGO = re.compile(
    r"\b(?P<count>\d{1,3}|an?|one|two|three|four|five|six|a couple of|a few) (?P<unit>day|week|month|year)s? ago\b",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"\b(?P<which>today|yesterday|tonight|last (?:night|week|month|year|weekend)|this (?:morning|week|month|year)|"
    rf"(?:last|this|on) (?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.IGNORECASE,
)
_TEMPORAL = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|lately|last|next|since|weekend|week|month|year|years|days|"
    r"morning|evening|\d{1,2}(?:st|nd|rd|th)|(?:19|20)\d\d|" + "|".join((*_MONTHS, *_WEEKDAYS)) + r")\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:day|month|year)|how long ago)\b", re.IGNORECASE
)

_QUESTION_CHARS = 2_000
_LOOKED_AT = 8_000


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A stretch of the calendar; what is None was not said."""

    year: int | None
    month: int | None = None
    day: int | None = None

    def nearness(self, said: date) -> float:
        """How well a day fits, from 0 to 1: the more exactly it was named, the more a match tells.

        People speak of a day on that day, or in the days after it.
        """
        if self.day is not None and self.month is not None:
            named = self._date(said.year)
            if named is None:
                return 0.0
            later = (said - named).days
            return 1.0 if later == 0 else 0.5 if 0 < later <= 3 else 0.25 if -1 <= later <= 10 else 0.0
        if self.month is not None:
            if (self.year or said.year) != said.year:
                return 0.0
            return 0.5 if self.month == said.month else 0.15 if said.month == self.month % 12 + 1 else 0.0
        return 0.2 if self.year == said.year else 0.0

    def _date(self, year: int) -> date | None:
        try:
            return date(self.year or year, self.month or 1, self.day or 1)
        except ValueError:
            return None


def named(text: str, today: date | None = None) -> tuple[NamedDay, ...]:
    """The days, months and years that a text names, the exact ones first.

    Words such as `yesterday` are counted from `today`; without it they name nothing.
    """
    found: list[NamedDay] = []
    rest = text[:_QUESTION_CHARS]
    for pattern in _SPELLED:
        for match in pattern.finditer(rest):
            parts = match.groupdict()
            month = _month(parts)
            if month != 0:
                found.append(NamedDay(_int(parts.get("year")), month, _int(parts.get("day"))))
        rest = pattern.sub(" ", rest)
    if today is not None:
        found += _relative(rest, today)
    return tuple(dict.fromkeys(found))


def asks_when(question: str) -> bool:
    """Whether the answer to a question is a time."""
    return _WHEN.search(question) is not None


def tells_time(text: str) -> bool:
    """Whether a text speaks of a time, exactly or not; of a long one the beginning is looked at."""
    return _TEMPORAL.search(text, 0, _LOOKED_AT) is not None


def _month(parts: dict[str, str | None]) -> int | None:
    """Its number; None when none was said, 0 when there is no such month."""
    name, number = parts.get("month"), parts.get("number")
    if name is not None:
        return next(index for index, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))
    if number is None:
        return None
    return int(number) if 1 <= int(number) <= 12 else 0


def _int(text: str | None) -> int | None:
    return None if text is None else int(text)


def _relative(text: str, today: date) -> list[NamedDay]:
    found: list[NamedDay] = []
    for match in _AGO.finditer(text):
        word = match["count"].lower()
        count = int(word) if word.isdigit() else _NUMBERS.get(word.removeprefix("a ") or word, 1)
        found += _before(today, match["unit"].lower(), count)
    for match in _NEAR.finditer(text):
        which, weekday = match["which"].lower(), match["weekday"]
        if weekday is not None:
            back = (today.weekday() - _WEEKDAYS.index(weekday.lower())) % 7 or 7
            found += _before(today, "day", back)
        elif which in ("today", "tonight", "this morning"):
            found += _before(today, "day", 0)
        elif which in ("yesterday", "last night"):
            found += _before(today, "day", 1)
        elif which.startswith("last"):
            found += _before(today, "week" if "week" in which else which[5:], 1)
        else:
            found += _before(today, which[5:], 0)
    return found


def _before(today: date, unit: str, count: int) -> list[NamedDay]:
    if unit == "year":
        return [NamedDay(today.year - count)]
    if unit == "month":
        months = today.year * 12 + today.month - 1 - count
        return [NamedDay(months // 12, months % 12 + 1)]
    try:
        day = today - timedelta(days=count * (7 if unit == "week" else 1))
    except OverflowError:
        return []
    return [NamedDay(day.year, day.month, day.day)]
