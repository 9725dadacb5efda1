"""The exports of a component: between what the kit has and the records of the contract."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from .answer import Answer, Content
from .call import Call
from .errors import ToolError, cut
from .host import Host
from .lower import check
from .prompt import Argument, Prompt, PromptReply
from .records import (
    WitAnswer,
    WitArgument,
    WitCompletions,
    WitContent,
    WitMessage,
    WitPart,
    WitPrompt,
    WitPromptAnswer,
    WitResource,
    WitResourceAnswer,
    WitTool,
)
from .resource import Completion, Resource, Resources, ResourceTemplate, Typed
from .shapes import Json, write_json
from .tool import Tool
from .wit_host import component_host, raise_error

R = TypeVar("R")

_HOST = component_host()

MAXIMUM_TRACEBACK_LINES = 40


def guarded(host: Host, work: Callable[[Call], R]) -> R:
    """Does the work of one call. Whatever fails becomes a `ToolError`.

    What was not expected becomes `internal` with its message; its traceback goes to
    the operator's log, and never to the client.
    """
    call = Call(host)
    try:
        return work(call)
    except ToolError:
        raise
    except (Exception, SystemExit) as error:
        # One log line each, since a log line has no line breaks; the last ones say where it happened.
        for line in traceback.format_exc().splitlines()[-MAXIMUM_TRACEBACK_LINES:]:
            call.log("error", line)
        raise ToolError.internal(cut(f"{type(error).__name__}: {error}", 1_024)) from None


def _export(work: Callable[[Call], R]) -> R:
    def checked(call: Call) -> R:
        result = work(call)
        check(result, "the answer")
        return result

    try:
        return guarded(_HOST, checked)
    except ToolError as error:
        raise_error(error)
        raise


def export_tools(tools: dict[str, Tool[..., Any]]) -> type[Any]:
    """The class `Tools`."""

    class Tools:
        def list_tools(self) -> list[WitTool]:
            return [_tool(tool) for tool in tools.values()]

        def call_tool(self, name: str, arguments: str) -> WitAnswer:
            return _export(lambda call: _answer(_offer(tools, name).run(call, arguments)))

    return Tools


def export_prompts(prompts: dict[str, Prompt[..., Any]]) -> type[Any]:
    """The class `Prompts`."""

    class Prompts:
        def list_prompts(self) -> list[WitPrompt]:
            return [_prompt(prompt) for prompt in prompts.values()]

        def get_prompt(self, name: str, arguments: str) -> WitPromptAnswer:
            return _export(lambda call: _prompt_answer(_offer(prompts, name).run(call, arguments)))

    return Prompts


def export_resources(resources: Resources) -> type[Any]:
    """The class `Resources`."""

    class ExportedResources:
        def claims(self) -> list[str]:
            return list(resources.claims)

        def list_templates(self) -> list[WitResource]:
            return [_template(template) for template in resources.templates()]

        def list_resources(self) -> list[WitResource]:
            return _export(lambda call: [_resource(resource) for resource in resources.list(call)])

        def read_resource(self, uri: str) -> WitResourceAnswer:
            return _export(lambda call: WitResourceAnswer([_part(p) for p in resources.read(call, uri)], None))

    return ExportedResources


def export_completion(completion: Completion) -> type[Any]:
    """The class `Completion`."""

    class ExportedCompletion:
        def complete(self, kind: str, name: str, argument: str, typed: str, others: str) -> WitCompletions:
            def work(call: Call) -> WitCompletions:
                found = completion(call, Typed(kind, name, argument, typed, json.loads(others)))
                return WitCompletions(list(found.values), found.total, found.has_more, None)

            return _export(work)

    return ExportedCompletion


def _offer(offers: dict[str, Any], name: str) -> Any:
    found = offers.get(name)
    if found is None:
        raise ToolError.not_found(f"this plugin has no `{name}`")
    return found


def _meta(meta: dict[str, Json]) -> str | None:
    return write_json(meta) if meta else None


def _tool(tool: Tool[..., Any]) -> WitTool:
    output = tool.output_schema()
    schema = None if output is None else write_json(output)
    return WitTool(tool.name, tool.description, write_json(tool.input_schema()), schema, _meta(tool.meta))


def _answer(answer: Answer) -> WitAnswer:
    structured = None if answer.structured is None else write_json(answer.structured)
    return WitAnswer([_content(part) for part in answer.content], structured, answer.is_error, _meta(answer.meta))


def _content(content: Content) -> WitContent:
    return WitContent(content.mime_type, bytes(content.data), _meta(content.meta))


def _argument(argument: Argument) -> WitArgument:
    return WitArgument(argument.name, argument.description, argument.required, None)


def _prompt(prompt: Prompt[..., Any]) -> WitPrompt:
    return WitPrompt(prompt.name, prompt.description, [_argument(a) for a in prompt.arguments], _meta(prompt.meta))


def _prompt_answer(reply: PromptReply) -> WitPromptAnswer:
    messages = [WitMessage(role, part.mime_type, bytes(part.data), _meta(part.meta)) for role, part in reply.messages]
    return WitPromptAnswer(messages, reply.description, _meta(reply.meta))


def _resource(resource: Resource) -> WitResource:
    return WitResource(resource.uri, "", resource.name, resource.description, resource.mime_type, _meta(resource.meta))


def _template(template: ResourceTemplate) -> WitResource:
    return WitResource(
        "", template.uri_template, template.name, template.description, template.mime_type, _meta(template.meta)
    )


def _part(part: Any) -> WitPart:
    return WitPart(part.uri, part.content.mime_type, bytes(part.content.data), _meta(part.content.meta))
