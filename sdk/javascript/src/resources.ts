// What a plugin has to read: documents, records, logs, by address.

import {
  answerShape,
  type Answer as WitAnswer,
  type ResourceInfo as WitResource,
  resourceInfoShape,
  type Template as WitTemplate,
  templateShape,
} from "./generated/resources.js";
import { type Content, jsonObjectOf, type Meta, witContent } from "./answer.js";
import { type Call, currentCall } from "./call.js";
import { ToolError } from "./error.js";
import { answering, produced } from "./plugin.js";
import { lower, type Shape } from "./shape.js";

/** Something that can be read. */
export interface Resource {
  /** Its address, absolute: starts with a claim of the plugin. At most 2,048 bytes of printable ASCII. */
  readonly uri: string;
  /** For a person. 1 to 256 bytes. */
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** `title`, `size` and `annotations`, and what else the protocol has a place for. */
  readonly meta?: Meta;
}

/** A family of resources. */
export interface ResourceTemplate extends Omit<Resource, "uri"> {
  /** RFC 6570, level 1: `{name}` stands for one part of a path. */
  readonly uriTemplate: string;
}

/** A part of what was read: of the address that was asked for, or of one below it. */
export interface ResourcePart extends Content {
  readonly uri?: string;
}

type Awaitable<T> = T | Promise<T>;

/** What a plugin has to read, and how it is read. */
export interface ResourceProvider {
  /** The beginnings of its addresses, 1 to 16, such as `manual://`. */
  readonly claims: readonly string[];
  readonly templates?: readonly ResourceTemplate[];
  /** What can be read in the calling context, at most 1,024. What a template describes need not be listed. */
  list?(call: Call): Awaitable<readonly Resource[]>;
  /** Reads one: a text, a part, or several. Throws `ToolError.notFound` where there is none. */
  read(call: Call, uri: string): Awaitable<string | ResourcePart | readonly ResourcePart[]>;
}

/** The export `resources` of the contract. */
export interface ResourceExports {
  claims(): string[];
  listTemplates(): WitTemplate[];
  listResources(): WitResource[] | Promise<WitResource[]>;
  readResource(uri: string): WitAnswer | Promise<WitAnswer>;
}

/** The resources of a plugin. Fails with `invalid` where there is no claim, or more than 16. */
export function resources(provider: ResourceProvider): ResourceExports {
  const claims = provider.claims.map((claim, index) => lower("string", claim, `claims[${index}]`) as string);
  if (claims.length < 1 || claims.length > 16) throw ToolError.invalid(`there are 1 to 16 claims, not ${claims.length}`);
  const templates = (provider.templates ?? []).map(({ uriTemplate, ...rest }) =>
    described(templateShape, { uriTemplate }, rest),
  ) as WitTemplate[];
  const listed = (found: unknown) =>
    (found as readonly Resource[]).map(({ uri, ...rest }) => described(resourceInfoShape, { uri }, rest));
  return {
    claims: () => answering(() => claims) as string[],
    listTemplates: () => answering(() => templates) as WitTemplate[],
    listResources: () => answering(() => provider.list?.(currentCall) ?? [], listed) as WitResource[],
    readResource: (uri) => answering(() => provider.read(currentCall, uri), (read) => finish(uri, read)) as WitAnswer,
  };
}

function described(shape: Shape, address: object, { name, description = "", mimeType, meta }: Omit<Resource, "uri">): unknown {
  const record = { ...address, name, description, mimeType, meta: meta && jsonObjectOf(meta, `the \`meta\` of \`${name}\``) };
  return produced(shape, record, String(name));
}

function finish(asked: string, read: unknown): unknown {
  const parts = Array.isArray(read) ? (read as readonly ResourcePart[]) : [read as string | ResourcePart];
  const made = parts.map((part) => ({ uri: (typeof part === "object" ? part?.uri : undefined) ?? asked, ...witContent(part) }));
  return produced(answerShape, { parts: made, meta: undefined }, "answer");
}
