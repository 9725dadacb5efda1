"""`python -m wharf_sdk`: builds plugins, and finds the text of the contract."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from . import CONTRACT
from .build import BuildError, build, wit_folder, write_world


def main(arguments: list[str] | None = None) -> int:
    """Runs one command. Returns 0, 1 where it failed, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m wharf_sdk", description=__doc__)
    parser.add_argument("--version", action="version", version=f"made for wharf:plugin {CONTRACT}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("wit", help="print the folder with the text of the contract")
    commands.add_parser("path", help="print the folder that --python-path needs for this package")
    making = commands.add_parser("build", help="make a component of a module that calls plugin(…)")
    making.add_argument("module", help="the name of the module, such as `greeter`")
    making.add_argument("--path", action="append", type=Path, help="where modules are; `.` where it is left out")
    making.add_argument("--output", type=Path, help="the component; MODULE.wasm with dashes where it is left out")
    making.add_argument("--componentize-py", default=_componentize_py(), metavar="PROGRAM", help="default: %(default)s")
    worlds = commands.add_parser("world", help="write a world, for a componentize-py of your own")
    worlds.add_argument("folder", type=Path, help="what --wit-path is then given")
    worlds.add_argument("--with", dest="parts", default="", help="such as `state,process,prompts`")
    given = parser.parse_args(arguments)
    try:
        if given.command == "wit":
            print(wit_folder())
        elif given.command == "path":
            print(Path(__file__).resolve().parents[1])
        elif given.command == "world":
            write_world(given.folder, [part for part in given.parts.split(",") if part])
        else:
            output = given.output or Path(f"{given.module.rpartition('.')[2].replace('_', '-')}.wasm")
            build(given.module, given.path or [Path()], output, given.componentize_py)
            print(f"{output}: {output.stat().st_size:,} bytes")
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _componentize_py() -> str:
    """The one of this environment, where it has one; else the one of the PATH."""
    beside = Path(sys.executable).with_name("componentize-py")
    return str(beside) if beside.is_file() else shutil.which("componentize-py") or "componentize-py"


if __name__ == "__main__":
    sys.exit(main())
