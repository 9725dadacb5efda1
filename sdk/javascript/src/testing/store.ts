// Durable entries in memory, which keep the contract of `state`: scopes are apart, changes are all or
// nothing, a revision never returns.

import { ToolError } from "../error.js";
import type { Change, Entry, Page, Usage } from "../generated/state.js";
import { encodeUtf8 } from "../utf8.js";

/** The context that a bucket is kept under. */
export interface Context {
  readonly session: string;
  readonly assistant?: string | undefined;
  readonly thread?: string | undefined;
}

/** The most bytes of a value: 1 MiB. */
const LARGEST_VALUE = 1_048_576;

/** The most bytes that one call of the host returns: 4 MiB. */
const LARGEST_ANSWER = 4_194_304;

/** What a page holds at most: about 1 MiB. */
const LARGEST_PAGE = 1_048_576;

/** By which ids a scope is keyed. */
function scopeKey(scope: string, { session, assistant, thread }: Context): string {
  switch (scope) {
    case "thread":
      return JSON.stringify([scope, session, assistant ?? null, thread ?? null]);
    case "session":
    case "default":
      return JSON.stringify(["session", session]);
    case "assistant":
      if (assistant === undefined) throw ToolError.invalid("the call has no assistant");
      return JSON.stringify([scope, assistant]);
    case "plugin":
      return JSON.stringify([scope]);
    default:
      throw ToolError.invalid("`scope` must be `thread`, `session`, `assistant`, `plugin` or `default`");
  }
}

function checkKey(key: string): void {
  const bytes = encodeUtf8(key).length;
  if (bytes < 1 || bytes > 512) throw ToolError.invalid(`a key has 1 to 512 bytes, not ${bytes}`);
}

/** In the order of their UTF-8 bytes, which that of UTF-16 is not. */
function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The entries of all scopes of one plugin. */
export class Store {
  readonly #buckets = new Map<string, Map<string, Entry>>();
  readonly #expired = new Map<string, string>();
  #revision = 0;
  /** How many bytes each bucket may hold. */
  quotaBytes = 67_108_864;
  /** Called before each `apply`: a test writes here what a rival would. */
  beforeApply: ((changes: readonly Change[]) => void) | undefined;

  /** A bucket as the kit calls it. */
  open(context: Context, scope: string, name: string): MemoryBucket {
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) throw ToolError.invalid(`${JSON.stringify(name)} cannot name a bucket`);
    return new MemoryBucket(this, scopeKey(scope, context) + name);
  }

  /** Ends all buckets of a scope, as idleness does. */
  expire(context: Context, scope: string): void {
    const prefix = scopeKey(scope, context);
    for (const key of this.#buckets.keys()) {
      if (!key.startsWith(prefix)) continue;
      this.#buckets.delete(key);
      this.#expired.set(key, new Date().toISOString());
    }
  }

  entries(bucket: string): Map<string, Entry> {
    return this.#buckets.get(bucket) ?? new Map<string, Entry>();
  }

  expiredAt(bucket: string): string | undefined {
    return this.#expired.get(bucket);
  }

  apply(bucket: string, changes: readonly Change[]): number[] {
    const rival = this.beforeApply;
    // What the rival does is no occasion for a further rival.
    this.beforeApply = undefined;
    rival?.(changes);
    this.beforeApply = rival;
    if (changes.length > 1_000) throw ToolError.invalid(`at most 1,000 changes, not ${changes.length}`);
    if (new Set(changes.map((change) => change.key)).size !== changes.length) throw ToolError.invalid("a key is given twice");
    const next = new Map(this.entries(bucket));
    const revisions = changes.map((change) => this.#change(next, change));
    const bytes = sizeOf(next);
    if (bytes > this.quotaBytes && changes.some((change) => change.value !== undefined)) {
      throw ToolError.limit(`the bucket would hold ${bytes} bytes and may hold ${this.quotaBytes}`);
    }
    this.#buckets.set(bucket, next);
    this.#expired.delete(bucket);
    return revisions;
  }

  #change(entries: Map<string, Entry>, { key, value, ifRevision }: Change): number {
    checkKey(key);
    const revision = entries.get(key)?.revision ?? 0;
    if (ifRevision !== undefined && ifRevision !== revision) {
      throw ToolError.conflict(`the key ${JSON.stringify(key)} was to have revision ${ifRevision} and has ${revision}`);
    }
    if (value === undefined) {
      entries.delete(key);
      return 0;
    }
    if (value.length > LARGEST_VALUE) throw ToolError.invalid(`a value has at most 1 MiB, not ${value.length} bytes`);
    this.#revision += 1;
    entries.set(key, { key, value: value.slice(), revision: this.#revision });
    return this.#revision;
  }
}

function sizeOf(entries: ReadonlyMap<string, Entry>): number {
  let bytes = 0;
  for (const { key, value } of entries.values()) bytes += encodeUtf8(key).length + value.length;
  return bytes;
}

/** One bucket, with the functions of the contract. */
export class MemoryBucket {
  constructor(
    readonly store: Store,
    readonly key: string,
  ) {}

  getMany(keys: readonly string[]): Array<Entry | undefined> {
    if (keys.length > 1_000) throw ToolError.invalid(`at most 1,000 keys, not ${keys.length}`);
    keys.forEach(checkKey);
    const entries = this.store.entries(this.key);
    const found = keys.map((key) => copied(entries.get(key)));
    if (found.reduce((bytes, entry) => bytes + (entry?.value.length ?? 0), 0) > LARGEST_ANSWER) {
      throw ToolError.limit("the values have more than 4 MiB together; ask for fewer");
    }
    return found;
  }

  apply(changes: readonly Change[]): number[] {
    return this.store.apply(this.key, changes);
  }

  scan(prefix: string, after: string | undefined, limit: number): Page {
    const entries = this.store.entries(this.key);
    const keys = [...entries.keys()].filter((key) => key.startsWith(prefix)).sort(byBytes);
    const rest = after === undefined ? keys : keys.filter((key) => byBytes(key, after) > 0);
    const page: Entry[] = [];
    let bytes = 0;
    for (const key of rest.slice(0, Math.min(Math.max(limit, 1), 1_000))) {
      const entry = copied(entries.get(key)) as Entry;
      bytes += entry.value.length;
      if (page.length > 0 && bytes > LARGEST_PAGE) break;
      page.push(entry);
    }
    return { entries: page, next: page.length < rest.length ? page.at(-1)?.key : undefined };
  }

  usage(): Usage {
    const entries = this.store.entries(this.key);
    return { entries: entries.size, bytes: sizeOf(entries), quotaBytes: this.store.quotaBytes };
  }

  expiredAt(): string | undefined {
    return this.store.expiredAt(this.key);
  }
}

function copied(entry: Entry | undefined): Entry | undefined {
  return entry === undefined ? undefined : { ...entry, value: entry.value.slice() };
}
