"""The host behind the bindings that componentize-py generates. It exists only inside a component.

The bindings have exactly the interfaces of the plugin's world, and modules can be
imported only while the component is built. So this module imports what there is, once.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .errors import ToolError
from .host import INTERFACES, Host
from .lower import check


def component_host() -> Host:
    """The host of the component that this code is built into; without any interface outside of one."""
    return Host({name: bound for name in INTERFACES if (bound := _interface(name)) is not None})


def raise_error(error: ToolError) -> None:
    """Raises an error so that the bindings hand it to the host."""
    types = _module("componentize_py_types")
    if types is None:
        raise error
    raise types.Err(error) from None


def _interface(name: str) -> Any:
    if name == "http":
        handler, types = _module("wit_world.imports.outgoing_handler"), _module("wit_world.imports.wasi_http_types")
        if handler is None or types is None:
            return None
        from .wit_http import HttpInterface

        return HttpInterface(handler, types, _error_type())
    module = _module(f"wit_world.imports.{name}")
    return None if module is None else _Bound(module, _error_type())


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _error_type() -> type[Exception]:
    types = _module("componentize_py_types")
    return ToolError if types is None else types.Err


class _Bound:
    """Functions of a module of bindings, or methods of a resource, that fail with `ToolError`."""

    def __init__(self, inner: Any, error_type: type[Exception]) -> None:
        self._inner = inner
        self._error_type = error_type

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if isinstance(attribute, type):
            return _Bound(attribute, self._error_type)
        return self._translating(attribute)

    def _translating(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            for argument in arguments:
                check(argument)
            try:
                result = function(*arguments)
            except self._error_type as error:
                raise _tool_error(error) from None
            # The one resource of the contract is the bucket; its methods fail in the same way.
            return _Bound(result, self._error_type) if hasattr(result, "get_many") else result

        return call


def _tool_error(error: Exception) -> ToolError:
    value: Any = getattr(error, "value", None)
    if value is None:
        return ToolError.internal(f"the host failed without an error: {error}")
    return ToolError(str(value.code), str(value.message), bool(value.retryable))
