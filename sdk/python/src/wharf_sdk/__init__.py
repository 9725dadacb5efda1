"""The kit for authors of Wharf plugins in Python: a function with typed input and output is a tool.

It was made for version 0.1.5 of the contract `wharf:plugin` (`CONTRACT`), whose
text is in the folder `wit` of this package. It needs Python 3.11 and nothing else.
"""

from .answer import Answer, Content, Reply
from .call import Call, Level
from .errors import CODES, ToolError
from .events import Stream
from .fields import Field
from .plugin import Plugin, plugin
from .prompt import Prompt, PromptReply, prompt
from .resource import Completions, Resource, ResourcePart, Resources, ResourceTemplate, Typed
from .rounds import Input, InputRequired
from .state import Bucket, Change, Entry, Scope
from .tool import Tool, tool

CONTRACT = "0.1.5"
"""The version of `wharf:plugin` that this kit was made for."""

__all__ = [
    "CODES",
    "CONTRACT",
    "Answer",
    "Bucket",
    "Call",
    "Change",
    "Completions",
    "Content",
    "Entry",
    "Field",
    "Input",
    "InputRequired",
    "Level",
    "Plugin",
    "Prompt",
    "PromptReply",
    "Reply",
    "Resource",
    "ResourcePart",
    "ResourceTemplate",
    "Resources",
    "Scope",
    "Stream",
    "Tool",
    "ToolError",
    "Typed",
    "plugin",
    "prompt",
    "tool",
]
