// The tool of `guests/echo`, written in JavaScript.

const schema = {
  type: "object",
  properties: { text: { type: "string", description: "What to answer." } },
  required: ["text"],
  additionalProperties: false,
};

// QuickJS has no TextEncoder.
const encoded = (text) =>
  Uint8Array.from(unescape(encodeURIComponent(text)), (character) => character.charCodeAt(0));

export const tools = {
  listTools() {
    const description = "Answers the text that it is given, unchanged.";
    return [{ name: "echo", description, inputSchema: JSON.stringify(schema), outputSchema: undefined, meta: undefined }];
  },

  callTool(name, text) {
    const data = encoded(JSON.parse(text).text);
    return { content: [{ mimeType: "text/plain", data, meta: undefined }], structured: undefined, isError: false, meta: undefined };
  },
};
