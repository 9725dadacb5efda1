"""The way to the bindings, with modules that stand in for those of a component."""

import sys
import unittest
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

from wharf_sdk import Call, Change, ToolError
from wharf_sdk.lower import bounded, check
from wharf_sdk.wit_host import component_host, raise_error
from wharf_sdk.wit_http import _tool_error


class Err(Exception):  # noqa: N818
    """As in `componentize_py_types`."""

    def __init__(self, value: Any) -> None:
        self.value = value


@dataclass
class Entry:
    """A record of the bindings: of another type than the kit's, with the same fields."""

    key: str
    value: bytes
    revision: int


class Bucket:
    """A resource of the bindings."""

    @classmethod
    def open(cls, scope: str, name: str) -> "Bucket":
        return cls()

    def get_many(self, keys: list[str]) -> list[Entry | None]:
        return [Entry(key, b"1", 7) if key == "known" else None for key in keys]

    def apply(self, changes: list[Any]) -> list[int]:
        raise Err(SimpleNamespace(code="conflict", message="another revision", retryable=True))


def module(name: str, **attributes: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


MODULES = {
    "componentize_py_types": module("componentize_py_types", Err=Err),
    "wit_world": module("wit_world"),
    "wit_world.imports": module("wit_world.imports"),
    "wit_world.imports.state": module("wit_world.imports.state", Bucket=Bucket),
    "wit_world.imports.caller": module("wit_world.imports.caller", session=lambda: "s", remaining=lambda: 5_000),
}


class Bindings(unittest.TestCase):
    def setUp(self) -> None:
        patched = mock.patch.dict(sys.modules, MODULES)
        patched.start()
        self.addCleanup(patched.stop)
        self.call = Call(component_host())

    def test_records_and_errors_become_the_kits(self) -> None:
        bucket = self.call.state("session", "x")
        entry = bucket.get("known")
        assert entry is not None
        self.assertEqual((entry.json(), entry.revision, bucket.get("other")), (1, 7, None))
        with self.assertRaises(ToolError) as raised:
            bucket.apply([Change("known", b"2")])
        error = raised.exception
        self.assertEqual((error.code, error.message, error.retryable), ("conflict", "another revision", True))

    def test_an_interface_outside_of_the_world_is_denied(self) -> None:
        self.assertEqual(self.call.session, "s")
        for reach in (lambda: self.call.processes, lambda: self.call.http, lambda: self.call.progress(1)):
            with self.assertRaisesRegex(ToolError, "denied: this component does not import"):
                reach()

    def test_an_error_is_raised_as_the_bindings_want_it(self) -> None:
        with self.assertRaises(Err) as raised:
            raise_error(ToolError.gone("away"))
        self.assertEqual(raised.exception.value.code, "gone")

    def test_what_the_bindings_would_end_the_call_for_is_invalid(self) -> None:
        bucket = self.call.state("session", "x")
        with self.assertRaisesRegex(ToolError, "invalid: `argument`: a text with a lone surrogate"):
            bucket.get("\ud800")
        with self.assertRaisesRegex(ToolError, "invalid: `key`: a text with a lone surrogate"):
            bucket.apply([Change("\ud800", b"")])
        for value in (-1, 1 << 64, [object()], {"a": 1}):
            with self.subTest(value=value), self.assertRaisesRegex(ToolError, "invalid: `argument`"):
                check(value)
        self.assertEqual(bounded("n", 0xFFFF_FFFF), 0xFFFF_FFFF)

    def test_the_hosts_words_about_http_become_an_error_with_its_code(self) -> None:
        internal = type("ErrorCode_InternalError", (), {"value": "denied: plugin `p` may not; to allow it, add …"})
        denied = _tool_error(internal())
        self.assertEqual((denied.code, denied.message[:10]), ("denied", "plugin `p`"))
        refused = _tool_error(type("ErrorCode_ConnectionRefused", (), {})())
        self.assertEqual((refused.code, refused.message), ("unavailable", "the request failed: ConnectionRefused"))
        self.assertEqual(_tool_error(type("ErrorCode_InternalError", (), {"value": None})()).code, "unavailable")


if __name__ == "__main__":
    unittest.main()
