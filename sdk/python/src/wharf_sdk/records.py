"""Records of the contract that a plugin hands to the host.

componentize-py reads records by the names of their fields, so these stand in for
the ones of the bindings, which exist only inside a component.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WitTool:
    """`tools.tool` of the contract."""

    name: str
    description: str
    input_schema: str
    output_schema: str | None
    meta: str | None


@dataclass(frozen=True)
class WitContent:
    """`tools.content` of the contract."""

    mime_type: str
    data: bytes
    meta: str | None


@dataclass(frozen=True)
class WitAnswer:
    """`tools.answer` of the contract."""

    content: list[WitContent]
    structured: str | None
    is_error: bool
    meta: str | None


@dataclass(frozen=True)
class WitArgument:
    """`prompts.argument` of the contract."""

    name: str
    description: str
    required: bool
    meta: str | None


@dataclass(frozen=True)
class WitPrompt:
    """`prompts.prompt` of the contract."""

    name: str
    description: str
    arguments: list[WitArgument]
    meta: str | None


@dataclass(frozen=True)
class WitMessage:
    """`prompts.message` of the contract."""

    role: str
    mime_type: str
    data: bytes
    meta: str | None


@dataclass(frozen=True)
class WitPromptAnswer:
    """`prompts.answer` of the contract."""

    messages: list[WitMessage]
    description: str | None
    meta: str | None


@dataclass(frozen=True)
class WitResource:
    """`resources.resource-info` and, with `uri_template`, `resources.template` of the contract."""

    uri: str
    uri_template: str
    name: str
    description: str
    mime_type: str | None
    meta: str | None


@dataclass(frozen=True)
class WitPart:
    """`resources.part` of the contract."""

    uri: str
    mime_type: str
    data: bytes
    meta: str | None


@dataclass(frozen=True)
class WitResourceAnswer:
    """`resources.answer` of the contract."""

    parts: list[WitPart]
    meta: str | None


@dataclass(frozen=True)
class WitCompletions:
    """`completion.completions` of the contract."""

    values: list[str]
    total: int | None
    has_more: bool
    meta: str | None
