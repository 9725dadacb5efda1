"""The tool of `guests/echo`, written in Python."""

import json

from wit_world import exports
from wit_world.exports.tools import Answer, Content, Tool

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What to answer."}},
    "required": ["text"],
    "additionalProperties": False,
}


class Tools(exports.Tools):
    def list_tools(self):
        return [Tool("echo", "Answers the text that it is given, unchanged.", json.dumps(SCHEMA), None, None)]

    def call_tool(self, name, arguments):
        text = json.loads(arguments)["text"]
        return Answer([Content("text/plain", text.encode(), None)], None, False, None)
