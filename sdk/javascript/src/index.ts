// What every plugin uses. Capabilities are entry points of their own, since a component asks the
// operator for whatever its module imports.

export { Type } from "./type.js";
export type { Static } from "typebox";

export { answer, content, reply, Answer, Reply, type AnswerParts, type Content, type Meta } from "./answer.js";
export { currentCall, type Call, type Level } from "./call.js";
export { ToolError, type ErrorCode, type ToolErrorOptions } from "./error.js";
export { contractVersion } from "./generated/contract.js";
export { form, inputRequired, Input, model, roots, type InputRequest } from "./input.js";
export { plugin, type Plugin, type PluginParts, type ToolExports } from "./plugin.js";
export { tool, type FreeOutput, type Run, type StructuredOutput, type Tool, type ToolDescription } from "./tool.js";
export { decodeUtf8, encodeUtf8, wellFormed } from "./utf8.js";
