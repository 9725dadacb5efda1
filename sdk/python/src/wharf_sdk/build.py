"""From a module to a component: the world that a plugin needs, componentize-py, and the plugin's reasons.

It runs where plugins are built, never inside a component.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from . import CONTRACT
from .plugin import CAPABILITIES, Plugin

WORLD = "wharf-plugin"
"""The name of the world. componentize-py takes no module of the same name."""

PARTS = (*CAPABILITIES, "settings", "prompts", "resources", "completion")
"""What a world may have beyond its tools."""

_PACKAGE = Path(__file__).resolve().parent


class BuildError(Exception):
    """Why no component was made, for the author."""


def wit_folder() -> Path:
    """The folder with the text of the contract: in the package, or in the repository that it is run from."""
    for folder in (_PACKAGE / "wit", _PACKAGE.parents[3] / "wit"):
        if (folder / "worlds.wit").is_file():
            return folder
    raise BuildError("the text of the contract is missing: install the wheel, or run from a clone of the repository")


def world(capabilities: Iterable[str], exports: Iterable[str] = ()) -> str:
    """The text of a world with these capabilities (those of `plugin`) and exports (`prompts`, `resources`, …)."""
    includes = ["plugin", "with-settings"]
    for name in [*capabilities, *exports]:
        if name not in PARTS:
            raise BuildError(f"there is no `{name}`; there is {', '.join(PARTS)}")
        if name not in ("http", "settings"):
            includes.append(f"with-{name}")
    lines = [f"    include wharf:plugin/{include}@{CONTRACT};" for include in dict.fromkeys(includes)]
    if "http" in capabilities:
        lines.append("    import wasi:http/outgoing-handler@0.2.9;")
    return "\n".join([f"package local:{WORLD};", "", f"world {WORLD} {{", *lines, "}", ""])


def write_world(folder: Path, capabilities: Iterable[str], exports: Iterable[str] = ()) -> None:
    """Writes the world and the text that it includes, as `--wit-path` takes them.

    The text goes below `deps`: componentize-py 0.25 does not take two `--wit-path`
    where one has a resource, as the contract's `state` does.
    """
    text = world(list(capabilities), exports)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "world.wit").write_text(text)
    shutil.copytree(wit_folder(), folder / "deps" / "wharf-plugin", dirs_exist_ok=True, ignore=_only_wit)
    if "wasi:http" in text:
        shutil.copytree(_PACKAGE / "wasi", folder / "deps", dirs_exist_ok=True, ignore=_only_wit)


def _only_wit(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if not name.endswith(".wit") and not (Path(folder) / name).is_dir()}


def load(module: str, python_path: list[Path]) -> Plugin:
    """Imports a module and finds its one `Plugin`. `BuildError` where there is none, or its exports are not bound."""
    sys.path[:0] = [str(path.resolve()) for path in python_path]
    try:
        loaded = importlib.import_module(module)
    except (ImportError, TypeError) as error:
        raise BuildError(f"cannot import `{module}`: {error}") from error
    plugins = [value for value in vars(loaded).values() if isinstance(value, Plugin)]
    if len(plugins) != 1:
        raise BuildError(f"`{module}` has {len(plugins)} results of `plugin(…)`, and needs one")
    for name, offered in plugins[0].exports().items():
        if offered and not isinstance(getattr(loaded, name, None), type):
            raise BuildError(f"`{module}` does not export what it offers: add `{name} = PLUGIN.{name}`")
    return plugins[0]


def build(module: str, python_path: list[Path], output: Path, componentize_py: str) -> None:
    """Makes the component of a module. Takes seconds. `BuildError` where it cannot be made."""
    if module.replace("_", "-") == WORLD:
        raise BuildError(f"componentize-py takes no module of this name; choose another than `{module}`")
    made = load(module, python_path)
    exports = [name.lower() for name, offered in made.exports().items() if offered and name != "Tools"]
    with tempfile.TemporaryDirectory() as folder:
        write_world(Path(folder) / "wit", made.reasons, exports)
        unfinished = Path(folder) / "plugin.wasm"
        command = [componentize_py, "--wit-path", str(Path(folder) / "wit"), "--world", WORLD]
        command += ["componentize", module, "--output", str(unfinished)]
        for path in [*python_path, _PACKAGE.parent]:
            command += ["--python-path", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise BuildError(f"cannot run `{componentize_py}`: {error}; `pip install componentize-py`") from error
        if done.returncode != 0 or not unfinished.is_file():
            raise BuildError(f"componentize-py failed:\n{_last_lines(done.stderr or done.stdout)}")
        component = unfinished.read_bytes() + reasons_section(made.reasons)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(component)


def _last_lines(text: str) -> str:
    """What a failed build printed, without the frames of the tool's own backtrace."""
    return "\n".join(re.split(r"(?i)\nstack backtrace:", text)[0].splitlines()[-40:])


def reasons_section(reasons: dict[str, str]) -> bytes:
    """The custom section `wharf-plugin` with the plugin's reasons, to be put behind a component."""
    if not reasons:
        return b""
    name = b"wharf-plugin"
    content = _length(len(name)) + name + json.dumps({"reasons": reasons}, ensure_ascii=False).encode()
    return b"\x00" + _length(len(content)) + content


def _length(number: int) -> bytes:
    """Unsigned LEB128."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
