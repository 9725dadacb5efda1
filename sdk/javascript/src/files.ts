// The files of the session's workspace, through `wasi:filesystem`, since neither engine has files.
//
// Paths are relative to the workspace, with `/` between their parts. Everything fails with `denied` where
// the workspace is not granted, or only for reading, and for a path that leads out of it; `not-found` where
// there is no such file; `unavailable` where the disk fails.

import { host as preopens } from "#wit/filesystem-preopens";
import { ToolError } from "./error.js";
import * as workspace from "./generated/workspace.js";
import { dispose, invoke, invokeForHandle } from "./invoke.js";
import type { Shape } from "./shape.js";
import { decodeUtf8, encodeUtf8 } from "./utf8.js";

/** The most bytes of one read or write: larger ones gain nothing. */
const CHUNK = 262_144;

/** The most bytes of a file that is read whole: 8 MiB, within the memory of a call. */
const LARGEST_FILE = 8_388_608;

/** The most entries of a directory that are listed. */
const MOST_ENTRIES = 10_000;

const flagsOf = (...names: string[]): Shape => ({ record: Object.fromEntries(names.map((name) => [name, "bool" as const])) });

const pathFlags = flagsOf("symlinkFollow");
const openFlags = flagsOf("create", "directory", "exclusive", "truncate");
const descriptorFlags = flagsOf("read", "write", "fileIntegritySync", "dataIntegritySync", "requestedWriteSync", "mutateDirectory");

/** How a file is opened: flags that are set. */
interface Opening {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly truncate?: boolean;
  readonly write?: boolean;
}

/** What is in a directory. */
export interface DirectoryEntry {
  readonly name: string;
  /** `regular-file` or `directory`; what is neither cannot be opened. */
  readonly type: string;
}

/** Errors of wasi:filesystem by the codes of the contract; others are `unavailable`. */
const CODES: Readonly<Record<string, string>> = {
  access: "denied",
  "not-permitted": "denied",
  "read-only": "denied",
  "no-entry": "not-found",
  exist: "conflict",
  "not-empty": "conflict",
  busy: "conflict",
  quota: "limit",
  "insufficient-space": "limit",
  "file-too-large": "limit",
  "is-directory": "invalid",
  "not-directory": "invalid",
  "name-too-long": "invalid",
  invalid: "invalid",
  loop: "invalid",
  "illegal-byte-sequence": "invalid",
};

/** Runs what may fail with a code of wasi:filesystem, and makes an error of the contract of that. */
function translated<Result>(path: string, act: () => Result): Result {
  try {
    return act();
  } catch (thrown) {
    const payload: unknown = typeof thrown === "object" && thrown !== null && "payload" in thrown ? thrown.payload : undefined;
    if (typeof payload !== "string") throw thrown;
    throw new ToolError(CODES[payload] ?? "unavailable", `${JSON.stringify(path)}: ${payload}`, { retryable: false });
  }
}

/** Uses a handle, and lets go of it whatever happens. */
function using<Result>(handle: object, act: (handle: object) => Result): Result {
  try {
    return act(handle);
  } finally {
    dispose(handle);
  }
}

/** Uses the directory of the workspace. `isWritten` makes it where it is not there yet. */
function inRoot<Result>(isWritten: boolean, act: (root: object) => Result): Result {
  const { path } = isWritten ? workspace.create() : workspace.files();
  const directories = preopens.getDirectories() as Array<[object, string]>;
  try {
    const found = directories.find(([, name]) => name === path);
    if (found === undefined) throw ToolError.notFound("this session has no workspace yet: nothing was written to it");
    return act(found[0]);
  } finally {
    for (const [handle] of directories) dispose(handle);
  }
}

/** Uses a file or directory of the workspace. */
function at<Result>(path: string, opening: Opening, act: (handle: object) => Result): Result {
  return inRoot(opening.write === true, (root) => using(openAt(root, path, opening), act));
}

function openAt(directory: object, path: string, { create = false, directory: isDirectory = false, truncate = false, write = false }: Opening): object {
  return translated(path, () =>
    invokeForHandle(
      directory,
      "openAt",
      [["pathFlags", pathFlags], ["path", "string"], ["openFlags", openFlags], ["flags", descriptorFlags]],
      [
        { symlinkFollow: true },
        path,
        { create, directory: isDirectory, exclusive: false, truncate },
        { read: true, write, fileIntegritySync: false, dataIntegritySync: false, requestedWriteSync: false, mutateDirectory: false },
      ],
    ),
  );
}

/** The bytes of a file, 8 MiB at most. Fails with `limit` where it has more, `invalid` where it is a directory. */
export function readFile(path: string): Uint8Array {
  return at(path, {}, (file) => {
    if (translated(path, () => invoke(file, "getType", [], [])) === "directory") throw ToolError.invalid(`${JSON.stringify(path)} is a directory`);
    return readWhole(path, file);
  });
}

function readWhole(path: string, file: object): Uint8Array {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const [chunk, isEnd] = translated(path, () => invoke(file, "read", [["length", "u64"], ["offset", "u64"]], [CHUNK, length])) as [Uint8Array, boolean];
    length += chunk.length;
    if (length > LARGEST_FILE) throw ToolError.limit(`${JSON.stringify(path)} has more than ${LARGEST_FILE} bytes, which is as much as is read at once`);
    chunks.push(chunk);
    if (isEnd || chunk.length === 0) break;
  }
  const whole = new Uint8Array(length);
  let written = 0;
  for (const chunk of chunks) {
    whole.set(chunk, written);
    written += chunk.length;
  }
  return whole;
}

/** The text of a file, 8 MiB at most. What is no UTF-8 becomes U+FFFD. */
export function readText(path: string): string {
  return decodeUtf8(readFile(path));
}

/** Writes a file, new or in place of one. Its directory must exist. Fails with `limit` where the disk or quota is full. */
export function writeFile(path: string, data: Uint8Array | string): void {
  const bytes = typeof data === "string" ? encodeUtf8(data) : data;
  if (!(bytes instanceof Uint8Array)) throw ToolError.invalid("`data` must be a Uint8Array or a string");
  at(path, { create: true, truncate: true, write: true }, (file) => {
    for (let offset = 0; offset < bytes.length; ) {
      const chunk = bytes.subarray(offset, offset + CHUNK);
      const written = translated(path, () => invoke(file, "write", [["buffer", "bytes"], ["offset", "u64"]], [chunk, offset])) as number;
      if (written === 0) throw ToolError.unavailable(`${JSON.stringify(path)} takes no more bytes`);
      offset += written;
    }
  });
}

/** What is in a directory, the workspace by default: 10,000 entries at most, in no particular order. */
export function listDirectory(path = "."): DirectoryEntry[] {
  return at(path, { directory: true }, (directory) =>
    using(
      translated(path, () => invokeForHandle(directory, "readDirectory", [], [])),
      (stream) => {
        const entries: DirectoryEntry[] = [];
        while (entries.length < MOST_ENTRIES) {
          const entry = translated(path, () => invoke(stream, "readDirectoryEntry", [], [])) as DirectoryEntry | undefined;
          if (entry === undefined) break;
          entries.push(entry);
        }
        return entries;
      },
    ),
  );
}

function change(path: string, method: string): void {
  inRoot(true, (root) => translated(path, () => invoke(root, method, [["path", "string"]], [path])));
}

/** Makes a directory. The one above it must exist. Fails with `conflict` where there is something of the name. */
export function makeDirectory(path: string): void {
  change(path, "createDirectoryAt");
}

/** Removes a file. */
export function removeFile(path: string): void {
  change(path, "unlinkFileAt");
}

/** Removes a directory. Fails with `conflict` where something is in it. */
export function removeDirectory(path: string): void {
  change(path, "removeDirectoryAt");
}
