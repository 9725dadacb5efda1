// A workspace in memory: its files, as `workspace` and `wasi:filesystem` show them.

import type { Directory, Usage } from "../generated/workspace.js";
import { decodeUtf8, encodeUtf8 } from "../utf8.js";

const PATH = "/workspace";

/** Fails as wasi:filesystem does: with a code, where engines put it. */
function fail(code: string): never {
  throw Object.assign(new Error(code), { payload: code });
}

/** The parts of a path within the workspace, joined. */
function normal(path: string): string {
  const parts: string[] = [];
  if (path.startsWith("/")) fail("not-permitted");
  for (const part of path.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) fail("not-permitted");
    } else if (part !== "" && part !== ".") {
      parts.push(part);
    }
  }
  return parts.join("/");
}

/** The name of the directory that something is in; empty for the workspace itself. */
const above = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

/** The files of one session. */
export class MemoryFiles {
  readonly #files = new Map<string, Uint8Array>();
  readonly #directories = new Set<string>([""]);
  #exists = false;

  /** Puts a file there, with the directories that it is in. */
  add(path: string, data: Uint8Array | string): this {
    this.#exists = true;
    const name = normal(path);
    for (let directory = above(name); directory !== ""; directory = above(directory)) this.#directories.add(directory);
    this.#files.set(name, typeof data === "string" ? encodeUtf8(data) : data);
    return this;
  }

  /** The text of a file; none where it is not there. */
  text(path: string): string | undefined {
    const data = this.#files.get(normal(path));
    return data === undefined ? undefined : decodeUtf8(data);
  }

  /** The names of all files. */
  get names(): string[] {
    return [...this.#files.keys()].sort();
  }

  /** The interface `workspace`. */
  get workspace(): object {
    const directory = (): Directory => ({ path: PATH, shown: PATH, exists: this.#exists, writable: true });
    const usage = (): Usage => ({
      bytes: [...this.#files.values()].reduce((bytes, data) => bytes + data.length, 0),
      entries: this.#files.size + this.#directories.size - 1,
      quotaBytes: 1_073_741_824,
    });
    const create = (): Directory => {
      this.#exists = true;
      return directory();
    };
    return { files: directory, create, exchange: () => [], measure: usage };
  }

  /** What `wasi:filesystem/preopens` hands out. */
  preopened(): Array<[object, string]> {
    return this.#exists ? [[this.#descriptor(""), PATH]] : [];
  }

  #descriptor(base: string): object {
    const at = (path: string): string => normal(base === "" ? path : `${base}/${path}`);
    return {
      getType: () => (this.#directories.has(base) ? "directory" : "regular-file"),
      openAt: (_links: unknown, path: string, open: Record<string, boolean>) => this.#open(at(path), open),
      read: (length: number, offset: number) => {
        const data = this.#files.get(base) ?? fail("is-directory");
        return [data.slice(offset, offset + length), offset + length >= data.length];
      },
      write: (buffer: Uint8Array, offset: number) => {
        const before = this.#files.get(base) ?? fail("is-directory");
        const after = new Uint8Array(Math.max(before.length, offset + buffer.length));
        after.set(before);
        after.set(buffer, offset);
        this.#files.set(base, after);
        return buffer.length;
      },
      readDirectory: () => this.#entries(base),
      createDirectoryAt: (path: string) => {
        const name = at(path);
        if (this.#directories.has(name) || this.#files.has(name)) fail("exist");
        this.#requireDirectory(above(name));
        this.#directories.add(name);
      },
      unlinkFileAt: (path: string) => {
        if (this.#directories.has(at(path))) fail("is-directory");
        if (!this.#files.delete(at(path))) fail("no-entry");
      },
      removeDirectoryAt: (path: string) => {
        this.#requireDirectory(at(path));
        if (this.#within(at(path)).length > 0) fail("not-empty");
        this.#directories.delete(at(path));
      },
    };
  }

  #open(name: string, open: Record<string, boolean>): object {
    const isDirectory = this.#directories.has(name);
    if (open["directory"] === true && !isDirectory) fail(this.#files.has(name) ? "not-directory" : "no-entry");
    if (!isDirectory && !this.#files.has(name)) {
      if (open["create"] !== true) fail("no-entry");
      this.#requireDirectory(above(name));
    }
    const isEmptied = open["create"] === true && !this.#files.has(name);
    if (!isDirectory && (isEmptied || open["truncate"] === true)) this.#files.set(name, new Uint8Array(0));
    return this.#descriptor(name);
  }

  #requireDirectory(name: string): void {
    if (!this.#directories.has(name)) fail(this.#files.has(name) ? "not-directory" : "no-entry");
  }

  #within(directory: string): string[] {
    return [...this.#directories, ...this.#files.keys()].filter((name) => name !== "" && above(name) === directory);
  }

  #entries(directory: string): object {
    const names = this.#within(directory);
    return {
      readDirectoryEntry: () => {
        const name = names.shift();
        if (name === undefined) return undefined;
        return { name: name.slice(name.lastIndexOf("/") + 1), type: this.#directories.has(name) ? "directory" : "regular-file" };
      },
    };
  }
}
