"""HTTP requests by the bindings of `wasi:http`. It exists only inside a component, and holds no logic of its own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from .errors import CODES, ToolError
from .http import Request, Response

WRITE_BYTES = 4_096
"""What one write of `wasi:io` takes at most."""

READ_BYTES = 65_536


class HttpInterface:
    """Sends requests, one at a time."""

    def __init__(self, handler: Any, types: Any, error_type: type[Exception]) -> None:
        self._handler = handler
        self._types = types
        self._error_type = error_type

    def send(self, request: Request) -> Response:
        """Sends a request whose URL `Http.send` has looked at."""
        parts = urlsplit(request.url)
        try:
            return self._exchange(request, parts.scheme, parts.netloc, _path(parts.path, parts.query))
        except self._error_type as error:
            raise _tool_error(getattr(error, "value", None)) from None

    def _exchange(self, request: Request, scheme: str, authority: str, path: str) -> Response:
        outgoing = self._types.OutgoingRequest(self._headers(request))
        for set_part, value in (
            (outgoing.set_method, self._method(request.method)),
            (outgoing.set_scheme, self._types.Scheme_Https() if scheme == "https" else self._types.Scheme_Http()),
            (outgoing.set_authority, authority),
            (outgoing.set_path_with_query, path),
        ):
            self._unless_unfit(set_part, value, "this is no request that can be sent")
        body = outgoing.body() if request.body else None
        with self._handler.handle(outgoing, None) as future:
            if body is not None:
                self._write(body, request.body)
            with future.subscribe() as pollable:
                pollable.block()
            # Two results in one another: whether it was asked for before, and what came.
            answered = future.get()
            result = getattr(answered, "value", None)
            if isinstance(result, self._error_type):
                raise result
            if result is None:
                raise ToolError.internal("the host has no answer to a request")
            with result.value as response:
                return self._read(response, request.maximum_body_bytes)

    def _headers(self, request: Request) -> Any:
        fields = self._types.Fields()
        for name, value in request.headers:
            self._unless_unfit(lambda pair: fields.append(*pair), (name, value.encode()), f"the header `{name}`")
        if request.body:
            length = str(len(request.body)).encode()
            self._unless_unfit(lambda value: fields.set("content-length", [value]), length, "the length of the body")
        return fields

    def _unless_unfit(self, function: Any, value: Any, what: str) -> None:
        try:
            function(value)
        except self._error_type:
            raise ToolError.invalid(f"{what}: the host does not take it") from None

    def _method(self, word: str) -> Any:
        known = getattr(self._types, f"Method_{word.capitalize()}", None) if word.isupper() else None
        return self._types.Method_Other(word) if known is None or word == "OTHER" else known()

    def _write(self, body: Any, data: bytes) -> None:
        try:
            with body.write() as stream:
                for start in range(0, len(data), WRITE_BYTES):
                    stream.blocking_write_and_flush(data[start : start + WRITE_BYTES])
            self._types.OutgoingBody.finish(body, None)
        except self._error_type:
            # The answer says why it could not be written to its end.
            return

    def _read(self, response: Any, maximum_bytes: int) -> Response:
        with response.headers() as fields:
            headers = [(name, value.decode("utf-8", "replace")) for name, value in fields.entries()]
        data = bytearray()
        with response.consume() as body, body.stream() as stream:
            while True:
                try:
                    data += stream.blocking_read(READ_BYTES)
                except self._error_type as error:
                    if type(getattr(error, "value", None)).__name__ == "StreamError_Closed":
                        break
                    raise ToolError.unavailable("the server's answer was not read to its end") from None
                if len(data) > maximum_bytes:
                    raise ToolError.limit(f"the answer has more than {maximum_bytes} bytes; that is all that is read")
        return Response(response.status(), headers, bytes(data))


def _path(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"


def _tool_error(code: Any) -> ToolError:
    """The error of a `wasi:http` code. Wharf's own is `internal-error` with `CODE: what happened`."""
    words = getattr(code, "value", None)
    if type(code).__name__ != "ErrorCode_InternalError" or not isinstance(words, str):
        return ToolError.unavailable(f"the request failed: {type(code).__name__.removeprefix('ErrorCode_')}")
    word, separator, message = words.partition(": ")
    return ToolError(word, message) if separator and word in CODES else ToolError.unavailable(words)
