"""`Call`: what a tool knows of the call that it answers, and what it may ask for."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from .errors import ToolError
from .events import Stream, Streams
from .host import Host
from .http import Http
from .process import Processes
from .rounds import Input, given
from .shapes import Json, read_json, shape_of, write_json
from .state import Bucket, Scope
from .terminal import Terminals
from .webview import WebPages
from .workspace import Workspace

T = TypeVar("T")

Level = Literal["trace", "debug", "info", "warn", "error"]


@dataclass(frozen=True)
class Call:
    """One call of a tool. The host derives its context; a tool only sees it.

    `wharf_sdk.testing.TestHost` makes one without Wasm.
    """

    host: Host

    @property
    def session(self) -> str:
        """One conversation or one run of an agent."""
        return str(self.host.interface("caller").session())

    @property
    def assistant(self) -> str | None:
        """The assistant, where the client names one."""
        found: str | None = self.host.interface("caller").assistant()
        return found

    @property
    def thread(self) -> str | None:
        """The thread within the session, where the client names one."""
        found: str | None = self.host.interface("caller").thread()
        return found

    @property
    def request_meta(self) -> dict[str, Json]:
        """What came with the request besides its arguments."""
        try:
            meta = json.loads(self.host.interface("caller").request_meta())
        except ValueError:
            return {}
        return meta if isinstance(meta, dict) else {}

    @property
    def remaining_milliseconds(self) -> int:
        """Wall-clock time until the host ends this call."""
        return int(self.host.interface("caller").remaining())

    @property
    def input(self) -> Input:
        """What was given to the round of input before; empty in the first."""
        return given(self.request_meta)

    def client_can(self, capability: str) -> bool:
        """Whether the client can do this: `elicitation`, `sampling` or `roots`."""
        client = self.request_meta.get("dev.wharf/client")
        capabilities = client.get("capabilities") if isinstance(client, dict) else None
        return isinstance(capabilities, dict) and capabilities.get(capability) is not None

    def settings(self, type_: type[T]) -> T:
        """What the operator set in `[plugin.NAME.settings]`, as this dataclass.

        Fails with `unavailable`, saying what is wrong, where it does not fit: a
        misspelt setting must not pass silently.
        """
        if not dataclasses.is_dataclass(type_):
            raise TypeError("settings are read into a dataclass")
        try:
            settings: T = shape_of(type_).decode(read_json(self.host.interface("settings").get(), "settings"), "")
        except ToolError as error:
            if error.code != "invalid":
                raise
            message = f"the operator's settings of this plugin are not usable: {error.message}"
            raise ToolError("unavailable", message, retryable=False) from None
        return settings

    def log(self, level: Level, message: str) -> None:
        """Writes one line to the operator's log. The caller never sees it. Never fails."""
        self.host.interface("log").write(level, message.encode("utf-8", "replace").decode())

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the caller how far the call has come.

        `done` grows from one to the next; `message` is one line of at most 1,024 bytes.

        Errors: `denied` where events are not granted; `invalid` where `done` did not
        grow, or a number is negative or not finite; `limit` after too many.
        """
        self.host.interface("events").progress(float(done), None if total is None else float(total), message)

    def message(self, level: Level, data: Json) -> None:
        """Sends the caller a message: a text, or anything that is at most 8,192 bytes of JSON.

        Errors: `denied` where events are not granted; `invalid` where it is too
        long or no JSON; `limit` after too many.
        """
        self.host.interface("events").message(level, _json(data))

    def open_stream(self, title: str, preset: str | None = None, parameters: dict[str, Json] | None = None) -> Stream:
        """Opens a stream of events, which outlives the call. `title` is one line of at most 256 bytes.

        Errors: `denied`, `limit` and `invalid`, as the contract's `events.open-stream`.
        """
        return Streams(self.host.interface("events")).open(title, preset, parameters)

    def stream(self, id: str) -> Stream:
        """A stream that was opened before, by its id. Nothing is checked until something is written."""
        return Stream(self.host.interface("events"), id)

    def changed(self, what: Literal["tools", "prompts", "resources"]) -> None:
        """Says that a list of this plugin's may have become another one."""
        self.host.interface("events").changed(what)

    def updated(self, uri: str) -> None:
        """Says that the resource of this address has changed, as this context sees it."""
        self.host.interface("events").updated(uri)

    def state(self, scope: Scope, name: str) -> Bucket:
        """Opens the bucket `name` of this plugin in `scope`. Nothing is created until something is written.

        Errors: `denied` where state is not granted; `invalid` for a name that is not
        1 to 64 bytes of `[A-Za-z0-9._-]`, and for `assistant` where the call has none;
        `limit` after too many.
        """
        bucket: Any = self.host.interface("state").Bucket.open(scope, name)
        return Bucket(bucket, lambda: self.remaining_milliseconds)

    @property
    def workspace(self) -> Workspace:
        """The files of the session."""
        return Workspace(self.host.interface("workspace"))

    @property
    def processes(self) -> Processes:
        """Child processes of the session."""
        return Processes(self.host.interface("process"))

    @property
    def terminals(self) -> Terminals:
        """Interactive programs of the session."""
        return Terminals(self.host.interface("terminal"))

    @property
    def web_pages(self) -> WebPages:
        """Web pages of the session."""
        return WebPages(self.host.interface("webview"))

    @property
    def http(self) -> Http:
        """The way to servers."""
        return Http(self.host.interface("http"))


def _json(data: Json) -> str:
    try:
        return write_json(data)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError.invalid(f"no JSON: {error}") from None
