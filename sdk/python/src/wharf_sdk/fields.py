"""`Field`: what an annotation says of a value beyond its type."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """Goes into `Annotated`. A bare text in `Annotated` is a `Field` with that description.

    ```
    times: Annotated[int, Field("How often.", minimum=1, maximum=10)] = 1
    ```
    """

    description: str | None = None
    """What the value is, for the model."""
    name: str | None = None
    """The name in JSON, where it is another than the attribute's."""
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int | None = None
    """In characters."""
    max_length: int | None = None
    """In characters."""
    pattern: str | None = None
    """A regular expression that matches somewhere in the text. Write what JavaScript and Python both read."""
    min_items: int | None = None
    max_items: int | None = None

    def __post_init__(self) -> None:
        if self.pattern is not None:
            re.compile(self.pattern)


NUMBER_BOUNDS = {"minimum": "minimum", "maximum": "maximum"}
TEXT_BOUNDS = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
ARRAY_BOUNDS = {"min_items": "minItems", "max_items": "maxItems"}
OBJECT_BOUNDS = {"min_items": "minProperties", "max_items": "maxProperties"}
ALL_BOUNDS = (*NUMBER_BOUNDS, *TEXT_BOUNDS, *ARRAY_BOUNDS)
