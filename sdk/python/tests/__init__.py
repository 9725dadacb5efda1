"""Tests on CPython, without Wasm: `python -m unittest` in `sdk/python`. `in_host.py` tries real components."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent / "examples"

for folder in (HERE.parent / "src", HERE / "plugins", *sorted(EXAMPLES.iterdir())):
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
