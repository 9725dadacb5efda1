// Durable entries of a plugin, kept apart by plugin and by the context of the call.

import { BucketHandle, type Change, type Entry, type Page, type Usage } from "./generated/state.js";
import { remaining } from "./generated/caller.js";
import { jsonOf } from "./answer.js";
import { ToolError } from "./error.js";
import { decodeUtf8, encodeUtf8 } from "./utf8.js";

export type { Change, Entry, Page, Usage };

/** Which part of the calling context keeps a bucket. `default` is what the operator chose, the session if nothing. */
export type Scope = "thread" | "session" | "assistant" | "plugin" | "default";

/** How often a change is tried. Only a store that others keep changing without end uses it up. */
const ATTEMPTS = 500;

/** Milliseconds. Where less is left, the tool should answer rather than try. */
const RESERVE = 250;

/** What {@link Bucket.transact} does, and what it answers. */
export interface Transaction<Result> {
  /** What is to change, all of it or nothing. At most 1,000 changes. */
  readonly changes: readonly Change[];
  /** What `transact` returns once it is changed. */
  readonly result: Result;
}

/** Writes a value as JSON. Fails with `internal` where it is none. */
export function putJson(key: string, value: unknown): Change {
  return { key, value: encodeUtf8(jsonOf(value, `the value of ${JSON.stringify(key)}`)) };
}

/** The value of an entry that was written as JSON. Fails with `internal` where it is none. */
export function jsonOfEntry<Value>(entry: Entry): Value {
  try {
    return JSON.parse(decodeUtf8(entry.value)) as Value;
  } catch (cause) {
    throw new ToolError("internal", `the value of ${JSON.stringify(entry.key)} is not JSON`, { cause });
  }
}

/**
 * The bucket of this name, of 1 to 64 bytes of `[A-Za-z0-9._-]`, in a scope of the caller's context.
 * Nothing is made until something is written.
 *
 * Fails with `denied` where state is not granted; `invalid` for another scope or an illegal name, and
 * for `assistant` where the call has no assistant.
 */
export function bucket(scope: Scope, name: string): Bucket {
  return new Bucket(BucketHandle.open(scope, name));
}

/**
 * The entries of one scope under one name. A key has 1 to 512 bytes, a value at most 1 MiB.
 *
 * Everything may also fail with `unavailable` or `timeout`, after which nothing was written and the
 * same call may succeed later.
 */
export class Bucket {
  readonly #handle: BucketHandle;
  #advice: string | undefined;

  constructor(handle: BucketHandle) {
    this.#handle = handle;
  }

  /** What a model can do once the bucket is full, such as "clear_todos makes room": said where a write fails with `limit`. */
  whenFull(advice: string): this {
    this.#advice = advice;
    return this;
  }

  /** The entry of one key. */
  get(key: string): Entry | undefined {
    return this.#handle.getMany([key])[0];
  }

  /** The value of one key, written as JSON. Fails with `internal` where it is none. */
  getJson<Value>(key: string): Value | undefined {
    const entry = this.get(key);
    return entry === undefined ? undefined : jsonOfEntry<Value>(entry);
  }

  /**
   * The entries of at most 1,000 keys, in the order of `keys`.
   *
   * Fails with `limit` where the values together are too much for one call of the host, 4 MiB.
   */
  getMany(keys: readonly string[]): Array<Entry | undefined> {
    return this.#handle.getMany(keys as string[]);
  }

  /** Writes bytes or a text, whatever is there, and returns the revision. Fails as {@link apply}. */
  put(key: string, value: Uint8Array | string): number {
    return this.apply([{ key, value: typeof value === "string" ? encodeUtf8(value) : value }])[0] as number;
  }

  /** Writes a value as JSON, whatever is there, and returns the revision. Fails as {@link apply}. */
  putJson(key: string, value: unknown): number {
    return this.apply([putJson(key, value)])[0] as number;
  }

  /** Deletes a key, which need not exist. */
  delete(key: string): void {
    this.apply([{ key }]);
  }

  /**
   * Makes all changes or none, and returns the new revision of each, 0 for one that deletes. At most
   * 1,000 changes, no key twice. `ifRevision` is the revision that the key must have now, 0 for none.
   *
   * Fails with `conflict` where a revision is not the expected one, `limit` where a quota would be
   * exceeded.
   */
  apply(changes: readonly Change[]): number[] {
    try {
      return this.#handle.apply(changes as Change[]);
    } catch (thrown) {
      if (this.#advice !== undefined && thrown instanceof ToolError && thrown.code === "limit") {
        throw thrown.withAdvice(this.#advice);
      }
      throw thrown;
    }
  }

  /** One page of the entries whose key starts with `prefix`, after the key `after`; `limit` is 1 to 1,000. */
  page(prefix: string, after: string | undefined, limit: number): Page {
    return this.#handle.scan(prefix, after, limit);
  }

  /** Entries whose key starts with `prefix`, in the order of their keys' bytes, a page at a time. */
  *scan(prefix = "", limit = 100): Generator<Entry, void, undefined> {
    let after: string | undefined;
    do {
      const { entries, next } = this.#handle.scan(prefix, after, limit);
      yield* entries;
      after = next;
    } while (after !== undefined);
  }

  /** What the bucket holds now, and may hold. */
  usage(): Usage {
    return this.#handle.usage();
  }

  /** Lets go of the bucket, of which a call may have 1,024 open. Only what opens hundreds has to. */
  close(): void {
    this.#handle.dispose();
  }

  /** When the content of this bucket last expired (RFC 3339), if that is why it is empty. */
  expiredAt(): string | undefined {
    return this.#handle.expiredAt();
  }

  /**
   * Changes the value of one key by compare-and-swap: hands its JSON value, or `undefined`, to `change`,
   * and writes what that returns if nobody else wrote meanwhile; otherwise it begins again, 500 times at
   * most. Returns what was written. `change` may run several times, and nothing is written where it
   * fails.
   *
   * Fails with `conflict` where others write so often that it never came through; with `internal` where
   * `change` returns `undefined`.
   */
  update<Value>(key: string, change: (value: Value | undefined) => Value): Value {
    return this.transact([key], ([entry]) => {
      const result = change(entry === undefined ? undefined : jsonOfEntry<Value>(entry));
      return { changes: [putJson(key, result)], result };
    });
  }

  /**
   * The same for at most 1,000 keys at once: `attempt` sees their entries and says what to change. A
   * change of one of `keys` that names no revision is made only while that key is as `attempt` saw it;
   * other keys are written as they stand. Without any change nothing is written.
   */
  transact<Result>(
    keys: readonly string[],
    attempt: (entries: ReadonlyArray<Entry | undefined>) => Transaction<Result>,
  ): Result {
    for (let tried = 1; ; tried++) {
      const entries = this.getMany(keys);
      const { changes, result } = attempt(entries);
      if (changes.length === 0) return result;
      try {
        this.apply(changes.map((change) => expectUnchanged(change, keys, entries)));
        return result;
      } catch (thrown) {
        if (!(thrown instanceof ToolError) || thrown.code !== "conflict") throw thrown;
      }
      if (tried >= ATTEMPTS || remaining() < RESERVE) {
        throw ToolError.conflict(`others changed the same entries during each of ${tried} attempts; nothing was changed`);
      }
    }
  }
}

function expectUnchanged(change: Change, keys: readonly string[], entries: ReadonlyArray<Entry | undefined>): Change {
  const position = keys.indexOf(change.key);
  if (change.ifRevision !== undefined || position < 0) return change;
  return { ...change, ifRevision: entries[position]?.revision ?? 0 };
}
