"""A host in memory: a plugin's functions run on CPython, without Wasm, and keep the contract.

```
host = TestHost(PLUGIN)
assert host.run("greet", {"name": "Ada"}).as_text() == "Welcome, Ada. Visit 1."
```
"""

from .host import TestHost
from .http import Server
from .page import WebPage
from .process import Program
from .schemas import check_definitions, problems
from .terminal import Script

__all__ = ["Program", "Script", "Server", "TestHost", "WebPage", "check_definitions", "problems"]
