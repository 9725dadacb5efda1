"""Types to schemas, and values to JSON and back."""

import enum
import json
import math
import unittest
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from wharf_sdk import Field, ToolError
from wharf_sdk.shapes import Object, read_json, root_schema, shape_of, write_json
from wharf_sdk.testing import problems


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Circle:
    kind: Literal["circle"]
    radius: Annotated[float, Field(minimum=0)]


@dataclass
class Square:
    kind: Literal["square"]
    side: float


@dataclass
class Tree:
    """A tree of names."""

    name: str
    children: "list[Tree]" = field(default_factory=list)


@dataclass
class Everything:
    text: Annotated[str, Field("A text.", min_length=1, max_length=5, pattern="^[a-z]+$")]
    count: Annotated[int, "How many."]
    share: float = 0.5
    yes: bool = True
    colour: Colour = Colour.RED
    size: Literal["s", "m", 3] = "s"
    maybe: Annotated[int | None, Field("Perhaps.", minimum=1)] = None
    names: Annotated[list[str], Field(max_items=3)] = field(default_factory=list)
    pair: tuple[int, ...] = (1, 2)
    table: dict[str, Circle | Square] = field(default_factory=dict)
    either: int | str | None = None
    anything: Any = None
    reserved: Annotated[str, Field("A word of Python.", name="from")] = "here"


class Schemas(unittest.TestCase):
    def test_types_and_annotations_become_a_schema(self) -> None:
        schema = schema_of(Everything)
        self.assertEqual(schema["required"], ["text", "count"])
        self.assertIs(schema["additionalProperties"], False)
        properties = schema["properties"]
        self.assertEqual(
            properties["text"],
            {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]+$", "description": "A text."},
        )
        self.assertEqual(properties["count"], {"type": "integer", "description": "How many."})
        self.assertEqual(properties["share"], {"type": "number", "default": 0.5})
        self.assertEqual(properties["colour"], {"type": "string", "enum": ["red", "green"], "default": "red"})
        self.assertEqual(properties["size"], {"type": ["integer", "string"], "enum": ["s", "m", 3], "default": "s"})
        self.assertEqual(properties["maybe"], {"type": ["integer", "null"], "minimum": 1, "description": "Perhaps."})
        self.assertEqual(properties["names"], {"type": "array", "items": {"type": "string"}, "maxItems": 3})
        self.assertEqual(properties["pair"], {"type": "array", "items": {"type": "integer"}, "default": [1, 2]})
        self.assertEqual([one["type"] for one in properties["either"]["anyOf"]], ["integer", "string", "null"])
        self.assertEqual(properties["anything"], {})
        self.assertEqual(properties["from"]["description"], "A word of Python.")

    def test_a_dataclass_that_contains_itself_has_a_definition(self) -> None:
        schema = schema_of(Tree)
        self.assertEqual(schema["type"], "object")
        self.assertEqual(schema["properties"]["children"]["items"], {"$ref": "#/$defs/Tree"})
        self.assertEqual(schema["$defs"]["Tree"]["description"], "A tree of names.")
        value = {"name": "a", "children": [{"name": "b", "children": []}]}
        self.assertEqual(problems(schema, value), [])
        self.assertEqual(encoded(Tree, decoded(Tree, value)), value)

    def test_definitions_of_namesakes_are_told_apart(self) -> None:
        other: Any = dataclass(type("Tree", (), {"__annotations__": {"twigs": "list[Tree]"}, "__module__": __name__}))
        other.__annotations__["twigs"] = list[other]
        both: Any = dataclass(type("Both", (), {"__annotations__": {"a": Tree, "b": other}, "__module__": __name__}))
        definitions = schema_of(both)["$defs"]
        self.assertEqual(sorted(definitions), ["Tree", "Tree2"])
        self.assertIn("twigs", definitions["Tree2"]["properties"])

    def test_what_json_cannot_have_is_refused_where_it_is_defined(self) -> None:
        @dataclass
        class Hidden:
            x: Annotated[int, Field(name="__x")]

        @dataclass
        class Untagged:
            x: "Circle | Tree"

        for hint, words in (
            (bytes, "has no JSON"),
            (dict[int, str], "has no JSON"),
            (set[str], "has no JSON"),
            (Annotated[int, Field(max_length=3)], "bounds no number"),
            (Annotated[bool, Field(minimum=3)], "bounds no"),
            (list[int] | tuple[str, ...], "tell its members apart"),
            (int | float, "tell its members apart"),
            (Literal["a"] | str, "tell its members apart"),
            (Circle | Tree, "tells them apart"),
        ):
            with self.subTest(hint=hint), self.assertRaisesRegex(TypeError, words):
                shape_of(hint)
        with self.assertRaisesRegex(TypeError, "two underscores"):
            schema_of(Hidden)
        with self.assertRaisesRegex(TypeError, r"Untagged\.x"):
            schema_of(Untagged)


class Values(unittest.TestCase):
    def test_arguments_are_decoded_into_their_types(self) -> None:
        value = {
            "text": "abc",
            "count": 3.0,
            "share": 1,
            "colour": "green",
            "size": 3,
            "table": {"a": {"kind": "square", "side": 2}, "b": {"kind": "circle", "radius": 1.5}},
            "either": "x",
            "pair": [],
            "from": "there",
        }
        self.assertEqual(problems(schema_of(Everything), value), [])
        read = decoded(Everything, value)
        self.assertEqual((read.count, type(read.count), type(read.share)), (3, int, float))
        self.assertIs(read.colour, Colour.GREEN)
        self.assertEqual(read.table, {"a": Square("square", 2.0), "b": Circle("circle", 1.5)})
        self.assertEqual((read.pair, read.names, read.reserved), ((), [], "there"))
        self.assertEqual(decoded(Everything, encoded(Everything, read)), read)
        self.assertEqual(problems(schema_of(Everything), encoded(Everything, read)), [])

    def test_odd_arguments_are_invalid_and_say_where(self) -> None:
        for change, words in (
            ({"text": 5}, "text: expected a text, got number"),
            ({"text": "ab\ud800"}, "text: expected a text"),
            ({"text": ""}, "text: at least 1 characters"),
            ({"text": "abcdef"}, "text: at most 5 characters"),
            ({"text": "AB"}, "text: expected a text that matches"),
            ({"count": True}, "count: expected an integer, got boolean"),
            ({"count": 1.5}, "count: expected an integer"),
            ({"share": 10**400}, "share: expected a number that a float can hold"),
            ({"yes": 1}, "yes: expected true or false"),
            ({"colour": "blue"}, "colour: expected one of 'red', 'green'"),
            ({"colour": None}, "colour: expected one of"),
            ({"size": True}, "size: expected one of"),
            ({"size": {}}, "size: expected one of"),
            ({"maybe": 0}, "maybe: at least 1"),
            ({"names": ["a", 1]}, r"names\[1\]: expected a text"),
            ({"names": ["a"] * 4}, "names: at most 3 items"),
            ({"names": {}}, "names: expected an array, got object"),
            ({"table": {"a": {"kind": "oval"}}}, "table.a: `kind` names none of"),
            ({"table": {"a": {"kind": "circle"}}}, "table.a.radius: missing"),
            ({"table": {"a": {"kind": "circle", "radius": 1, "x": 1}}}, "table.a.x: there is no such member"),
            ({"either": []}, "either: expected null or number or string, got array"),
            ({"more": 1}, "more: there is no such member"),
        ):
            with self.subTest(change=change), self.assertRaisesRegex(ToolError, "^invalid: " + words):
                decoded(Everything, {"text": "abc", "count": 3, **change})
        with self.assertRaisesRegex(ToolError, "expected an object, got array"):
            decoded(Everything, [])

    def test_what_a_dataclass_itself_refuses_is_invalid(self) -> None:
        @dataclass
        class Even:
            number: int

            def __post_init__(self) -> None:
                if self.number % 2:
                    raise ValueError("number: it is odd")

        with self.assertRaisesRegex(ToolError, "invalid: the arguments: number: it is odd"):
            decoded(Even, {"number": 3})

    def test_values_of_other_types_are_no_answers(self) -> None:
        for value in (Circle("circle", math.nan), Circle("circle", "1"), Circle("square", 1.0), "circle", None):  # type: ignore[arg-type]
            with self.subTest(value=value), self.assertRaises((TypeError, ValueError)):
                encoded(Circle, value)
        with self.assertRaises(ValueError):
            encoded(Tree, Tree("\ud800"))

    def test_json_has_no_nan_and_no_endless_nesting(self) -> None:
        for text in ("NaN", '{"a": Infinity}', "{", "", "[" * 200_000):
            with self.subTest(text=text[:20]), self.assertRaisesRegex(ToolError, "no JSON"):
                read_json(text, "it")
        for value in (math.inf, {"a": "\ud800"}, {1, 2}):
            with self.subTest(value=value), self.assertRaises((TypeError, ValueError)):
                write_json(value)


def schema_of(type_: type) -> dict[str, Any]:
    shape = shape_of(type_)
    assert isinstance(shape, Object)
    schema = root_schema(shape)
    json.dumps(schema, allow_nan=False)
    return schema


def decoded(type_: type, value: Any) -> Any:
    return shape_of(type_).decode(value, "")


def encoded(type_: type, value: Any) -> Any:
    return shape_of(type_).encode(value, "")


if __name__ == "__main__":
    unittest.main()
