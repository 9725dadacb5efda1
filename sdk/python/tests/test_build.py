"""The world, the section of reasons and the contract's text. Components themselves are made by `in_host.py`."""

import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path

from wharf_sdk import CONTRACT
from wharf_sdk.__main__ import main
from wharf_sdk.build import BuildError, build, load, reasons_section, wit_folder, world
from wharf_sdk.plugin import CAPABILITIES

HERE = Path(__file__).resolve().parent


class Build(unittest.TestCase):
    def test_the_kit_says_which_contract_it_was_made_for(self) -> None:
        for file in wit_folder().glob("*.wit"):
            self.assertIn(f"package wharf:plugin@{CONTRACT};", file.read_text(), file)

    def test_every_capability_has_a_world(self) -> None:
        worlds = set(re.findall(r"^world (\S+) \{", (wit_folder() / "worlds.wit").read_text(), re.MULTILINE))
        text = world(CAPABILITIES, ["prompts", "resources", "completion"])
        included = re.findall(rf"include wharf:plugin/(\S+)@{re.escape(CONTRACT)};", text)
        self.assertEqual(set(included), worlds - {"everything"})
        self.assertIn("import wasi:http/outgoing-handler@", text)
        self.assertNotIn("with-state", world(["process"]))
        with self.assertRaisesRegex(BuildError, "there is no `stat`"):
            world(["stat"])

    def test_reasons_are_a_custom_section(self) -> None:
        section = reasons_section({"state": "zählt"})
        self.assertEqual(section, b"\x00\x2d\x0cwharf-plugin" + b'{"reasons": {"state": "z\xc3\xa4hlt"}}')
        self.assertEqual(reasons_section({}), b"")
        long = reasons_section({"state": "x" * 300})
        self.assertEqual(long[1] & 0x7F | long[2] << 7, len(long) - 3)

    def test_a_world_is_written_with_the_text_that_it_includes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(main(["world", folder, "--with", "state,http"]), 0)
            names = {str(file.relative_to(folder)) for file in Path(folder).rglob("*.wit")}
        self.assertLessEqual({"world.wit", "deps/wharf-plugin/worlds.wit", "deps/wasi-http/http.wit"}, names)

    def test_a_module_that_is_no_plugin_says_why(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "without_exports.py").write_text("import greeter\nPLUGIN = greeter.PLUGIN\n")
            for module, words in (
                ("missing_module", "cannot import"),
                ("test_build", "0 results of `plugin"),
                ("without_exports", "add `Tools = PLUGIN.Tools`"),
            ):
                with self.subTest(module=module), self.assertRaisesRegex(BuildError, words):
                    load(module, [HERE, Path(folder)])
            with self.assertRaisesRegex(BuildError, "cannot run"):
                build("greeter", [], Path(folder, "x.wasm"), "/no/componentize-py")
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                self.assertEqual(main(["build", "missing_module"]), 1)
            self.assertIn("error: cannot import `missing_module`", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
