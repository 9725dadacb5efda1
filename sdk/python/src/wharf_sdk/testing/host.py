"""`TestHost`: one context of a host in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .. import guest
from ..answer import Answer
from ..call import Call
from ..errors import ToolError
from ..host import Host
from ..http import Request, Response
from ..plugin import Plugin
from ..prompt import PromptReply
from ..resource import Completions, ResourcePart, Typed
from ..shapes import Json, write_json
from ..state import Scope
from .events import EventsInterface
from .http import HttpInterface
from .page import WebPage, WebviewInterface
from .process import ProcessInterface, Program
from .schemas import problems
from .store import StateInterface, bucket_scope
from .terminal import Script, TerminalInterface
from .workspace import WorkspaceInterface
from .world import Context, World


@dataclass(frozen=True)
class TestHost:
    """A host with everything granted, in one context. Its methods return the same host in another one.

    Programs, terminals, pages and servers answer from what a test gives; the
    workspace is a real directory that a test gives.
    """

    __test__ = False  # For pytest, which takes it for a test by its name.

    plugin: Plugin | None = None
    context: Context = field(default_factory=Context)
    world: World = field(default_factory=World)

    def session(self, session: str) -> TestHost:
        """The same host in this session."""
        return self._in(session=session)

    def assistant(self, assistant: str | None) -> TestHost:
        """The same host with this assistant."""
        return self._in(assistant=assistant)

    def thread(self, thread: str | None) -> TestHost:
        """The same host in this thread."""
        return self._in(thread=thread)

    def settings(self, settings: dict[str, Json]) -> TestHost:
        """The same host with these settings of the operator."""
        return self._in(settings=write_json(settings))

    def remaining(self, milliseconds: int) -> TestHost:
        """The same host with so much time left."""
        return self._in(remaining_milliseconds=milliseconds)

    def request_meta(self, meta: dict[str, Json]) -> TestHost:
        """The same host with this metadata of the request."""
        return self._in(request_meta=write_json(meta))

    def given(self, name: str, response: Json, state: str | None = None) -> TestHost:
        """The same host in the next round, with what the caller said to the request `name`."""
        meta = json.loads(self.context.request_meta)
        known = meta.get("dev.wharf/input", {}).get("responses", {})
        given: dict[str, Json] = {"responses": {**known, name: response}}
        if state is not None:
            given["state"] = state
        return self.request_meta({**meta, "dev.wharf/input": given})

    def _in(self, **context: Any) -> TestHost:
        return replace(self, context=replace(self.context, **context))

    def without(self, *capabilities: str) -> TestHost:
        """The same host where these capabilities are not granted."""
        return self._in(denied=self.context.denied | frozenset(capabilities))

    def workspace(self, directory: str) -> TestHost:
        """Gives a real directory as the workspace of every session."""
        self.world.directory = directory
        return self

    def program(self, name: str, program: Program) -> TestHost:
        """Gives a program that `processes.spawn` may start."""
        self.world.programs[name] = program
        return self

    def terminal_program(self, name: str, script: Script) -> TestHost:
        """Gives a program for terminals."""
        self.world.scripts[name] = script
        return self

    def web_page(self, url: str, page: WebPage) -> TestHost:
        """Gives a page that may be visited. Other addresses are `denied`."""
        self.world.site[url] = page
        return self

    def http(self, server: Callable[[Request], Response]) -> TestHost:
        """Gives the server that answers HTTP requests."""
        self.world.server = server
        return self

    def call(self) -> Call:
        """A call in this context."""
        context, world = self.context, self.world
        interfaces: dict[str, Any] = {
            "caller": _Caller(context),
            "log": _Log(world),
            "settings": _Settings(context),
            "state": StateInterface(context, world),
            "events": EventsInterface(context, world),
            "process": ProcessInterface(context, world),
            "workspace": WorkspaceInterface(world),
            "terminal": TerminalInterface(context, world),
            "webview": WebviewInterface(context, world),
            "http": HttpInterface(world),
        }
        return Call(Host({n: _Denied(n) if n in context.denied else i for n, i in interfaces.items()}))

    def run(self, name: str, arguments: dict[str, Json] | None = None) -> Answer:
        """Runs a tool as the host would, through JSON, with both schemas checked.

        Raises the `ToolError` that the client would see; `AssertionError` where the
        arguments or the answer do not fit their schema, or there is no such tool.
        """
        tool = self._plugin().tools.get(name)
        assert tool is not None, f"there is no tool `{name}`"
        given = arguments or {}
        _expect_none(problems(tool.input_schema(), given), f"the arguments of `{name}`")
        answer = guest.guarded(self.call().host, lambda call: tool.run(call, write_json(given)))
        schema = tool.output_schema()
        if schema is not None and not answer.is_error and "inputRequired" not in answer.meta:
            _expect_none(problems(schema, json.loads(write_json(answer.structured))), f"the answer of `{name}`")
        return answer

    def prompt(self, name: str, arguments: dict[str, str] | None = None) -> PromptReply:
        """Makes a prompt as the host would. Raises as `run`."""
        prompt = self._plugin().prompts.get(name)
        assert prompt is not None, f"there is no prompt `{name}`"
        return guest.guarded(self.call().host, lambda call: prompt.run(call, write_json(arguments or {})))

    def read_resource(self, uri: str) -> list[ResourcePart]:
        """Reads a resource. Raises `not-found` where no claim of the plugin begins its address."""
        resources = self._plugin().resources
        if resources is None or not any(uri.startswith(claim) for claim in resources.claims):
            raise ToolError.not_found("no plugin answers for this address")
        return guest.guarded(self.call().host, lambda call: resources.read(call, uri))

    def complete(self, typed: Typed) -> Completions:
        """Completes what a person typed. Raises `AssertionError` where the plugin does not complete."""
        completion = self._plugin().completion
        assert completion is not None, "this plugin completes nothing"
        return guest.guarded(self.call().host, lambda call: completion(call, typed))

    def _plugin(self) -> Plugin:
        assert self.plugin is not None, "make the host with the plugin: TestHost(PLUGIN)"
        return self.plugin

    def expire(self, scope: Scope) -> None:
        """Empties this context's buckets of a scope, as after idle time."""
        wanted = bucket_scope(self.context, scope)
        for key in [key for key in self.world.buckets if key[0] == wanted]:
            del self.world.buckets[key]
            self.world.expired[key] = "2026-01-01T00:00:00Z"


def _expect_none(found: list[str], what: str) -> None:
    assert not found, f"{what} do not fit the schema: {'; '.join(found)}"


@dataclass(frozen=True)
class _Caller:
    context: Context

    def session(self) -> str:
        return self.context.session

    def assistant(self) -> str | None:
        return self.context.assistant

    def thread(self) -> str | None:
        return self.context.thread

    def request_meta(self) -> str:
        return self.context.request_meta

    def remaining(self) -> int:
        return self.context.remaining_milliseconds


@dataclass(frozen=True)
class _Log:
    world: World

    def write(self, level: str, message: str) -> None:
        self.world.log.append((level, message))


@dataclass(frozen=True)
class _Settings:
    context: Context

    def get(self) -> str:
        return self.context.settings


@dataclass(frozen=True)
class _Denied:
    """An interface without a grant."""

    name: str

    def __getattr__(self, function: str) -> Any:
        raise ToolError.denied(f"not granted; to allow it, add [plugin.NAME.grants.{self.name}]")
