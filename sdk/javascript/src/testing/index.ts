// Tests of plugins without Wasm and without a host, for any test runner of Node.js.

export { TestAnswer } from "./answers.js";
export { Told, type ToldProgress, type ToldStream } from "./events.js";
export { MemoryFiles } from "./files.js";
export { TestHost, type TestHostOptions } from "./host.js";
export type { PlayedPage, Site } from "./pages.js";
export type { PlayedProgram, ProgramEnd, ProgramStart } from "./programs.js";
