"""A validator of the part of JSON Schema that the kit writes."""

from __future__ import annotations

import re
from typing import Any

from ..plugin import Plugin
from ..shapes import Json

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def problems(schema: dict[str, Json], value: Json) -> list[str]:
    """What is wrong with a value, each with its path; nothing where it conforms."""
    return list(_check(schema, value, "", schema.get("$defs", {})))


def check_definitions(plugin: Plugin) -> None:
    """Raises `AssertionError` where a tool has no title, or a field of its input no description: models need them."""
    for tool in plugin.tools.values():
        assert "title" in tool.meta, f"the tool `{tool.name}` has no title"
        for name, schema in tool.input_schema()["properties"].items():
            assert schema.get("description"), f"`{name}` of the tool `{tool.name}` has no description"


def _check(schema: Any, value: Json, path: str, definitions: dict[str, Json]) -> list[str]:
    if schema is True or not schema:
        return []
    if "$ref" in schema:
        return _check(definitions[schema["$ref"].removeprefix("#/$defs/")], value, path, definitions)
    if "anyOf" in schema:
        tried = [_check(one, value, path, definitions) for one in schema["anyOf"]]
        return [] if any(not found for found in tried) else [f"{path or '/'}: it is none of what it may be"]
    wanted = schema.get("type", [])
    if wanted and not any(_is(value, word) for word in ([wanted] if isinstance(wanted, str) else wanted)):
        return [f"{path or '/'}: it is not of type {wanted}"]
    if "enum" in schema and not any(one == value and type(one) is type(value) for one in schema["enum"]):
        return [f"{path or '/'}: it is none of {schema['enum']}"]
    if isinstance(value, dict):
        return _check_object(schema, value, path, definitions)
    if isinstance(value, list):
        found = _outside(len(value), schema, "minItems", "maxItems", path)
        for index, item in enumerate(value):
            found += _check(schema.get("items"), item, f"{path}/{index}", definitions)
        return found
    if isinstance(value, str):
        found = _outside(len(value), schema, "minLength", "maxLength", path)
        if "pattern" in schema and not re.search(schema["pattern"], value):
            found.append(f"{path or '/'}: it does not match {schema['pattern']}")
        return found
    return [] if value is None else _outside(value, schema, "minimum", "maximum", path)


def _check_object(schema: Any, value: dict[str, Json], path: str, definitions: dict[str, Json]) -> list[str]:
    found = [f"{path}/{name}: it is missing" for name in schema.get("required", []) if name not in value]
    found += _outside(len(value), schema, "minProperties", "maxProperties", path)
    properties, further = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, item in value.items():
        if name not in properties and further is False:
            found.append(f"{path}/{name}: there is no such member")
        else:
            found += _check(properties.get(name, further), item, f"{path}/{name}", definitions)
    return found


def _outside(size: float, schema: Any, least: str, most: str, path: str) -> list[str]:
    low, high = schema.get(least), schema.get(most)
    found = [f"{path or '/'}: below {least} {low}"] if low is not None and size < low else []
    return [*found, f"{path or '/'}: above {most} {high}"] if high is not None and size > high else found


def _is(value: Json, word: str) -> bool:
    if word in ("integer", "number"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (word == "number" or float(value).is_integer())
    return isinstance(value, _TYPES[word])
