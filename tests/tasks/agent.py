"""A scripted agent that knows of tools what their list says, and nothing else.

It finds a tool by the words of a request, and arguments by the words of what it knows. Nothing here names a tool or
an argument.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

# How much a word counts by the place where it stands. Schemas of answers are left out: most models never see them.
NAME, TITLE, DESCRIPTION, SCHEMA = 3.0, 2.0, 1.0, 0.5

# The usual parameters of BM25.
SATURATION, LENGTH = 1.2, 0.75

# They stand everywhere and say nothing.
FREQUENT = frozenset(
    "a an and are as at be but by can do does every for from has have how i if in into is it its me my not of on one "
    "or out so some still such than that the their them then there they this to was we what when where which who will "
    "with you your".split()
)

# What anybody knows who speaks English: words of which one is said and another one meant. Each line stands for itself.
ALIKE = """
show see look view read tell give get display say
list enumerate ls
find search grep query
create make write save record
set make
add put append new
keep store remember save
change update edit modify
delete remove clear erase
start begin open launch
run execute carry follow
stop end close kill
wait hold block until till
type enter send ask message
go visit navigate open
done finish complete tick mark
folder directory
document content
site website address url
url address
stand state status
now current moment
answer response reply
"""
# How much such a word counts beside the one that was said.
ALIKE_WEIGHT = 0.5

# What is left of a tool's score for each argument that is required and unknown, and for each fact that it does not take.
MISFIT = 0.5


def stem(word: str) -> str:
    """A word without the ending that grammar gave it, roughly."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(ending)] + instead
            break
    # `stopped` and `stop`, `planning` and `plan` are the same.
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl" else word


def words(text: str) -> list[str]:
    parts = re.findall(r"[a-z]+|[0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return [stem(part) for part in parts if part not in FREQUENT]


def texts_of(schema: Any) -> list[str]:
    """The names, descriptions and choices of a schema, at any depth."""
    if isinstance(schema, list):
        return [text for part in schema for text in texts_of(part)]
    if not isinstance(schema, dict):
        return []
    found = [schema["description"]] if isinstance(schema.get("description"), str) else []
    found += [choice for choice in schema.get("enum", []) if isinstance(choice, str)]
    if isinstance(properties := schema.get("properties"), dict):
        found += list(properties)
        found += [text for part in properties.values() for text in texts_of(part)]
    others = ("items", "anyOf", "oneOf", "allOf", "$defs", "additionalProperties")
    return found + [text for key in others for text in texts_of(schema.get(key))]


def _alike() -> dict[str, set[str]]:
    """For each word the others that may be meant by it."""
    groups = [set(words(line)) for line in ALIKE.strip().splitlines()]
    return {word: set().union(*(group for group in groups if word in group)) - {word} for word in set().union(*groups)}


class Index:
    """The listed tools, to be ranked by the words of a request (BM25 over weighted fields)."""

    alike = _alike()

    def __init__(self, tools: list[dict[str, Any]]) -> None:
        self.schemas = {tool["name"]: tool.get("inputSchema", {}) for tool in tools}
        self.counts = {tool["name"]: self._count(tool) for tool in tools}
        self.lengths = {name: sum(count.values()) for name, count in self.counts.items()}
        self.average = sum(self.lengths.values()) / max(len(tools), 1)
        self.holding = Counter(word for count in self.counts.values() for word in count)

    @staticmethod
    def _count(tool: dict[str, Any]) -> Counter[str]:
        fields = [
            (NAME, [tool["name"]]),
            (TITLE, [tool.get("title", "")]),
            (DESCRIPTION, [tool.get("description", "")]),
            (SCHEMA, texts_of(tool.get("inputSchema"))),
        ]
        count: Counter[str] = Counter()
        for weight, texts in fields:
            for text in texts:
                for word in words(text):
                    count[word] += weight
        return count

    def _score(self, name: str, word: str) -> float:
        holding, weight = self.holding[word], self.counts[name][word]
        rare = math.log(1 + (len(self.counts) - holding + 0.5) / (holding + 0.5))
        long = 1 - LENGTH + LENGTH * self.lengths[name] / self.average
        return rare * weight * (SATURATION + 1) / (weight + SATURATION * long)

    def _likeness(self, name: str, word: str) -> float:
        """How well a tool answers to a word, or else to one that is like it."""
        others = self.alike.get(word, set())
        meant = ALIKE_WEIGHT * max((self._score(name, other) for other in others), default=0.0)
        return max(self._score(name, word), meant)

    def ranked(self, request: str, facts: dict[str, Any]) -> list[str]:
        """The tools' names, the best first. Those that score the same are in the order of their names."""
        asked = set(words(request))

        def score(name: str) -> float:
            _, filled = fill(facts, self.schemas[name])
            misfits = len(filled.missing) + len(filled.left_over)
            return sum(self._likeness(name, word) for word in asked) * MISFIT**misfits

        scores = {name: score(name) for name in self.counts}
        return sorted(scores, key=lambda name: (-scores[name], name))


def resolved(schema: Any, root: dict[str, Any]) -> dict[str, Any]:
    """A schema with its reference followed and its `null` left out, whichever way they are written."""
    if not isinstance(schema, dict):
        return {}
    if isinstance(reference := schema.get("$ref"), str):
        target: Any = root
        for part in reference.removeprefix("#/").split("/"):
            target = target.get(part, {})
        return {**resolved(target, root), **{key: value for key, value in schema.items() if key != "$ref"}}
    for key in ("anyOf", "oneOf", "allOf"):
        choices = [part for part in schema.get(key, []) if part.get("type") != "null"]
        if len(choices) == 1:
            return {**resolved(choices[0], root), **{name: value for name, value in schema.items() if name != key}}
    return schema


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is of the type that a property has."""
    if "enum" in schema:
        return value in schema["enum"]
    listed = schema.get("type", [])
    types = {listed} if isinstance(listed, str) else set(listed)
    kinds = {str: {"string"}, bool: {"boolean"}, int: {"integer", "number"}, float: {"number"}}
    kinds |= {list: {"array"}, dict: {"object"}}
    return not types or bool(types & kinds[type(value)])


def likeness(label: str, name: str, schema: dict[str, Any]) -> float:
    """How well a property is what we know under a label."""
    asked, named, said = set(words(label)), set(words(name)), set(words(schema.get("description", "")))
    if not asked:
        return 0.0
    shared = len(asked & named)
    return 2 * shared / max(len(named | asked), 1) + shared / len(asked) + len(asked & said) / len(asked)


class Filled:
    """The arguments of a call, and what is wrong with them as far as the schema tells."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.left_over: list[str] = []


def fill(facts: dict[str, Any], schema: dict[str, Any]) -> tuple[dict[str, Any], Filled]:
    """The arguments that a schema asks for, of what is known."""
    filled = Filled()
    return _object(facts, schema, schema, filled), filled


def _object(facts: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], filled: Filled) -> dict[str, Any]:
    properties = {name: resolved(part, root) for name, part in schema.get("properties", {}).items()}
    required = schema.get("required", [])
    pairs = [
        (likeness(label, name, part), name in required, label, name)
        for label, value in facts.items()
        for name, part in properties.items()
        if fits(value, part)
    ]
    pairs = sorted((pair for pair in pairs if pair[0] > 0), key=lambda pair: (-pair[0], not pair[1], pair[3]))
    chosen: dict[str, str] = {}
    for _, _, label, name in pairs:
        if name not in chosen and label not in chosen.values():
            chosen[name] = label
    # What is left has only one place to go.
    open_names = [name for name in required if name not in chosen]
    open_labels = [label for label in facts if label not in chosen.values()]
    if len(open_names) == len(open_labels) == 1 and fits(facts[open_labels[0]], properties.get(open_names[0], {})):
        chosen[open_names[0]] = open_labels[0]
    filled.missing += [name for name in required if name not in chosen]
    filled.left_over += [label for label in facts if label not in chosen.values()]
    return {name: _value(facts[label], properties[name], root, filled) for name, label in chosen.items()}


def _value(value: Any, schema: dict[str, Any], root: dict[str, Any], filled: Filled) -> Any:
    if isinstance(value, dict) and "properties" in schema:
        return _object(value, schema, root, filled)
    if isinstance(value, list):
        item = resolved(schema.get("items"), root)
        return [_value(part, item, root, filled) for part in value]
    return value
