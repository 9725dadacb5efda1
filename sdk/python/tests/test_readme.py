"""The code of the README."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from wharf_sdk.build import load

SDK = Path(__file__).resolve().parents[1]


class Readme(unittest.TestCase):
    def test_every_block_of_python_works(self) -> None:
        blocks = re.findall(r"```python\n# (\S+)\n(.*?)```", (SDK / "README.md").read_text(), re.DOTALL)
        self.assertEqual([name for name, _ in blocks], ["greeter.py", "asking.py", "manual.py", "test_greeter.py"])
        with tempfile.TemporaryDirectory() as folder:
            for name, text in blocks:
                Path(folder, name).write_text(text)
            for module in ("asking", "manual"):
                load(module, [Path(folder)])
            done = subprocess.run(
                [sys.executable, "-m", "unittest", "test_greeter"],
                cwd=folder,
                env={"PYTHONPATH": str(SDK / "src")},
                capture_output=True,
                text=True,
                timeout=60,
            )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
