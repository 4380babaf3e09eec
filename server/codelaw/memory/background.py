"""From which cosine on a similarity is evidence, for the embedder in use (B-6).

What a cosine tells depends on the model: unrelated texts have 0.05 with one and 0.8 with another, and two texts of one
language are nearer than two of different ones. So each embedder is measured before its similarities count. It embeds
sentences that are written as memories are, about things that seldom matter, in several languages. What a question
gives to these is chance, and a memory counts as similar when it stands clearly above that. Beside them it embeds
questions about some of the sentences, in other words: in a language in which it does not find these out, its
similarities count for nothing. The built-in embedder compares words and finds out none, so that there the words that
are really shared decide (`memory/evidence`).

numpy is imported with this module: import it late.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.ports.memories import Vector

DEVIATIONS = 4.0
"""Standard deviations above the mean of chance from which a similarity is evidence."""
LEAST_ABOVE = 0.02
"""And at least so far above it, where an embedder gives all texts about the same."""
FOUND_OUT = 0.5
"""Of a language's questions that an embedder must find out for its similarities to count in it."""

Floats = npt.NDArray[np.float32]

SENTENCES: tuple[tuple[str, ...], ...] = (
    (
        "The user prefers tulips over roses",
        "The project's mascot is a grey heron",
        "The user plays the cello on Sundays",
        "We decided to paint the fence dark green",
        "The neighbour's cat sleeps on the piano",
        "The user collects old railway timetables",
        "The bakery on the corner opens at six",
        "The team has lunch at the harbour on Thursdays",
        "The user is learning to ride a horse",
        "The curtains in the hall must be washed by hand",
        "The user walks to the lake before breakfast",
        "We agreed to plant three apple trees",
        "The kettle in the kitchen leaks",
        "The user knows how to repair wooden boats",
        "The choir rehearses in the town hall",
        "The user dislikes raisins in cake",
    ),
    (
        "用户更喜欢郁金香而不是玫瑰",
        "团队的吉祥物是一只灰鹭",
        "用户每个星期天拉大提琴",
        "我们决定把篱笆漆成深绿色",
        "邻居家的猫睡在钢琴上",
        "用户收集旧的火车时刻表",
        "街角的面包店六点开门",
        "大家星期四在港口吃午饭",
        "用户正在学骑马",
        "大厅的窗帘必须手洗",
        "用户早饭前去湖边散步",
        "我们同意种三棵苹果树",
        "厨房里的水壶漏水",
        "用户会修木船",
        "合唱团在市政厅排练",
        "用户不喜欢蛋糕里有葡萄干",
    ),
    (
        "Người dùng thích hoa tulip hơn hoa hồng",
        "Linh vật của nhóm là một con diệc xám",
        "Người dùng chơi đàn cello vào chủ nhật",
        "Chúng tôi quyết định sơn hàng rào màu xanh đậm",
        "Con mèo của hàng xóm ngủ trên đàn piano",
        "Người dùng sưu tầm lịch tàu hỏa cũ",
        "Tiệm bánh ở góc phố mở cửa lúc sáu giờ",
        "Cả nhóm ăn trưa ở bến cảng vào thứ năm",
        "Người dùng đang học cưỡi ngựa",
        "Rèm cửa ở sảnh phải giặt bằng tay",
        "Người dùng đi bộ ra hồ trước bữa sáng",
        "Chúng tôi đồng ý trồng ba cây táo",
        "Ấm nước trong bếp bị rò",
        "Người dùng biết sửa thuyền gỗ",
        "Dàn hợp xướng tập ở tòa thị chính",
        "Người dùng không thích nho khô trong bánh",
    ),
    (
        "Der Nutzer spielt sonntags Cello",
        "Wir haben beschlossen, den Zaun grün zu streichen",
        "Die Bäckerei an der Ecke öffnet um sechs",
        "L'utilisateur collectionne de vieux horaires de train",
        "Le chat du voisin dort sur le piano",
        "La chorale répète à la mairie",
        "El usuario está aprendiendo a montar a caballo",
        "Acordamos plantar tres manzanos",
        "La tetera de la cocina gotea",
        "ユーザーは日曜日にチェロを弾く",
        "角のパン屋は六時に開く",
        "ユーザーは木の船を直せる",
        "사용자는 일요일에 첼로를 연주한다",
        "Пользователь учится ездить верхом",
        "Соседская кошка спит на пианино",
        "المستخدم يجمع جداول القطارات القديمة",
    ),
)
"""By language; the last are one of many."""


QUESTIONS: tuple[tuple[tuple[str, int], ...], ...] = (
    (
        ("Which flowers are my favourites?", 0),
        ("What musical instrument is my hobby?", 2),
        ("When can I buy bread and rolls?", 6),
        ("Who could fix a leaking ship for us?", 13),
    ),
    (
        ("我最爱的花是哪一种？", 0),
        ("我会演奏什么乐器？", 2),
        ("什么时候可以买到刚出炉的点心？", 6),
        ("谁能帮我们把破了的小艇弄好？", 13),
    ),
    (
        ("Loài bông nào được tôi yêu nhất?", 0),
        ("Nhạc cụ của tôi là gì?", 2),
        ("Khi nào mua được ổ mì mới nướng?", 6),
        ("Ai khắc phục được chiếc ghe hỏng?", 13),
    ),
    (
        ("Welches Instrument beherrsche ich?", 0),
        ("Wann kann man morgens Brötchen kaufen?", 2),
        ("Où se repose l'animal d'à côté ?", 4),
        ("Какой вид спорта меня увлекает?", 13),
    ),
)
"""By language: questions about a sentence of it, by its place, that share no content word with it."""


@dataclass(frozen=True, slots=True)
class Chance:
    """What one embedder gives to texts that have nothing in common."""

    strangers: Floats
    """The vectors of all sentences, one a row."""
    means: tuple[bool, ...]
    """By language, whether similarities mean anything."""

    def floor(self, question: Vector) -> float | None:
        """The cosine from which a memory's similarity to a question is evidence; None where none is."""
        asked = np.frombuffer(question, "<f4")
        if len(asked) != self.strangers.shape[1]:
            return None
        language, found = _floor(self.strangers, asked)
        return found if self.means[language] else None


def texts() -> list[str]:
    """All sentences, then all questions: what an embedder embeds to be measured."""
    sentences = [sentence for group in SENTENCES for sentence in group]
    return [*sentences, *(question for group in QUESTIONS for question, _ in group)]


def measured(vectors: Sequence[Vector]) -> Chance:
    """The measure of an embedder from its vectors of `texts`.

    Raises:
        ValueError: their number is another, or their sizes differ.
    """
    if len(vectors) != len(texts()) or len({*map(len, vectors)}) != 1:
        raise ValueError("these are not vectors of the sentences")
    matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    count = sum(map(len, SENTENCES))
    strangers, asked = matrix[:count], iter(matrix[count:])
    means: list[bool] = []
    first = 0
    for group, questions in zip(SENTENCES, QUESTIONS, strict=True):
        found_out = 0
        for _, place in questions:
            vector = next(asked)
            found_out += float(strangers[first + place] @ vector) >= _floor(strangers, vector)[1]
        means.append(found_out >= FOUND_OUT * len(questions))
        first += len(group)
    return Chance(strangers, tuple(means))


def _floor(strangers: Floats, asked: npt.NDArray[Any]) -> tuple[int, float]:
    """The language that is nearest by chance, and what stands clearly above chance in all of them.

    The nearest sentence is left out: it may be what the question is about.
    """
    products = np.einsum("ij,j->i", strangers, asked)
    means: list[float] = []
    floors: list[float] = []
    for group in SENTENCES:
        chance = np.sort(products[: len(group)])[:-1]
        products = products[len(group) :]
        means.append(float(chance.mean()))
        floors.append(means[-1] + max(DEVIATIONS * float(chance.std()), LEAST_ABOVE))
    return int(np.argmax(means)), max(floors)
