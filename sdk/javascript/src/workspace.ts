// The workspace of the calling session: where it is, and how much it holds. Its files are in `files`.
//
// Everything fails with `denied` where no workspace is granted.

export { create, exchange, files, measure } from "./generated/workspace.js";
export type { Directory, Usage } from "./generated/workspace.js";
