"""HTTP requests. The operator grants them by method, origin and path; redirects are answers."""

from __future__ import annotations

import json as json_text
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from .errors import ToolError
from .shapes import Json, read_json


@dataclass(frozen=True)
class Request:
    """A request. Do not set a header with a secret: the host adds the operator's."""

    method: str
    url: str
    """`https://host/path?query`, in ASCII."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    maximum_body_bytes: int = 1_048_576
    """How much of the answer is read; more is `limit`."""

    @classmethod
    def get(cls, url: str, headers: dict[str, str] | None = None) -> Request:
        """A GET."""
        return cls("GET", url, list((headers or {}).items()))

    @classmethod
    def post_json(cls, url: str, value: Json) -> Request:
        """A POST of JSON."""
        return cls("POST", url, [("content-type", "application/json")], json_text.dumps(value).encode())


@dataclass(frozen=True)
class Response:
    """What a server answered. A status is no error."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of this name, in whatever case."""
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)

    def text(self) -> str:
        """The body as UTF-8. `unavailable` where it is none."""
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            raise ToolError("unavailable", "the server's answer is no UTF-8", retryable=False) from None

    def json(self) -> Json:
        """The body as JSON. `unavailable` where it is none."""
        try:
            return read_json(self.text(), "the server's answer")
        except ToolError as error:
            raise ToolError("unavailable", error.message, retryable=False) from None


@dataclass(frozen=True)
class Http:
    """The way to servers. Get it from `Call.http`."""

    interface: Any

    def send(self, request: Request) -> Response:
        """Sends a request and reads its whole answer.

        Errors: `denied`, naming the line of configuration; `invalid` for what is no
        request; `limit` and `timeout`, naming the limit; `unavailable` where the
        server is not reached.
        """
        try:
            parts = urlsplit(request.url)
            valid = parts.scheme in ("http", "https") and bool(parts.netloc) and request.url.isascii()
        except ValueError:
            valid = False
        if not valid or any(character <= " " for character in request.url):
            raise ToolError.invalid("the URL: expected http:// or https:// with a host, in ASCII without spaces")
        response: Response = self.interface.send(request)
        return response

    def get(self, url: str) -> Response:
        """Gets what is at an address. Errors as `send`."""
        return self.send(Request.get(url))
