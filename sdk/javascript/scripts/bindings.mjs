// Writes TypeScript of an interface of the contract: its records as types, what checks them as
// values, and its functions, which check what they are given before the host sees it.

const camel = (word) => word.replace(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const pascal = (word) => camel(word).replace(/^[a-z]/, (letter) => letter.toUpperCase());

/** Names that JavaScript does not allow for a function or a parameter. */
const RESERVED = new Set(["arguments", "delete", "package", "export", "import", "with", "default"]);
const safe = (word) => (RESERVED.has(camel(word)) ? `${camel(word)}_` : camel(word));

const NUMBERS = new Set(["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"]);
const isBytes = (type) => type.kind === "list" && type.of[0].kind === "name" && type.of[0].name === "u8";

/** The TypeScript of a type. */
function typescript(type) {
  switch (type.kind) {
    case "unit":
      return "void";
    case "name":
      if (NUMBERS.has(type.name)) return "number";
      if (type.name === "bool") return "boolean";
      if (type.name === "string") return "string";
      return pascal(type.name);
    case "list":
      return isBytes(type) ? "Uint8Array" : `Array<${typescript(type.of[0])}>`;
    case "option":
      return `${typescript(type.of[0])} | undefined`;
    case "tuple":
      return `[${type.of.map(typescript).join(", ")}]`;
    case "result":
      return type.of.length === 0 ? "void" : typescript(type.of[0]);
    default:
      throw new Error(`no TypeScript for ${type.kind}`);
  }
}

/** The value that `lower` checks by. */
function shape(type) {
  switch (type.kind) {
    case "name":
      return NUMBERS.has(type.name) || type.name === "bool" || type.name === "string"
        ? JSON.stringify(type.name)
        : `${camel(type.name)}Shape`;
    case "list":
      return isBytes(type) ? '"bytes"' : `{ list: ${shape(type.of[0])} }`;
    case "option":
      return `{ option: ${shape(type.of[0])} }`;
    case "tuple":
      return `{ tuple: [${type.of.map(shape).join(", ")}] }`;
    default:
      throw new Error(`no shape for ${type.kind}`);
  }
}

function comment(doc, indent) {
  if (doc.length === 0) return "";
  const lines = doc.map((line) => `${indent} * ${line.replaceAll("*/", "* /")}`.trimEnd());
  return `${indent}/**\n${lines.join("\n")}\n${indent} */\n`;
}

function record({ name, doc, fields }) {
  const members = fields.map((field) => {
    const optional = field.type.kind === "option" ? "?" : "";
    return `${comment(field.doc, "  ")}  ${camel(field.name)}${optional}: ${typescript(field.type)};\n`;
  });
  const shapes = fields.map((field) => `${camel(field.name)}: ${shape(field.type)}`);
  return (
    `${comment(doc, "")}export interface ${pascal(name)} {\n${members.join("")}}\n\n` +
    `/** What a {@link ${pascal(name)}} is checked by. */\n` +
    `export const ${camel(name)}Shape: Shape = { record: { ${shapes.join(", ")} } };\n`
  );
}

const signature = ({ parameters }) =>
  parameters.map((parameter) => `${safe(parameter.name)}: ${typescript(parameter.type)}`).join(", ");

function body({ parameters, result }, receiver, method) {
  const shapes = parameters.map((parameter) => `["${camel(parameter.name)}", ${shape(parameter.type)}]`);
  const values = parameters.map((parameter) => safe(parameter.name));
  const called = `invoke(${receiver}, "${method}", [${shapes.join(", ")}], [${values.join(", ")}])`;
  const type = typescript(result);
  return type === "void" ? `${called};` : `return ${called} as ${type};`;
}

function freeFunction(made) {
  return (
    `${comment(made.doc, "")}export function ${safe(made.name)}(${signature(made)}): ${typescript(made.result)} {\n` +
    `  ${body(made, "host", camel(made.name))}\n}\n`
  );
}

function resource({ name, doc, functions }) {
  const members = functions.map((made) => {
    const head = `${comment(made.doc, "  ")}  ${made.isStatic ? "static " : ""}${camel(made.name)}(${signature(made)})`;
    if (!made.isStatic) return `${head}: ${typescript(made.result)} {\n    ${body(made, "this.#handle", camel(made.name))}\n  }\n`;
    const opened = body(made, `host.${pascal(name)}`, camel(made.name)).replace(/^return invoke/, "invokeForHandle").replace(/ as \w+;$/, "");
    return `${head}: ${pascal(name)}Handle {\n    return new ${pascal(name)}Handle(${opened});\n  }\n`;
  });
  return (
    `${comment(doc, "")}export class ${pascal(name)}Handle {\n  readonly #handle: object;\n\n` +
    `  private constructor(handle: object) {\n    this.#handle = handle;\n  }\n\n${members.join("\n")}\n` +
    `  /** Lets go of the handle. Nothing else may be called then. */\n  dispose(): void {\n    dispose(this.#handle);\n  }\n}\n`
  );
}

function invokeImport(parts) {
  const names = ["dispose", "invoke", "invokeForHandle"].filter((name) => parts.some((part) => new RegExp(`\\b${name}\\((?!\\))`).test(part)));
  return `import { ${names.join(", ")} } from "../invoke.js";`;
}

/**
 * The TypeScript module of an interface.
 *
 * @param {object} parsed an interface as `parse` returns it
 * @param {boolean} isImported whether plugins call it; of what they export only the types are needed
 */
export function bindings(parsed, isImported) {
  const parts = [];
  const uses = parsed.members.filter((member) => member.kind === "use");
  for (const member of parsed.members) {
    if (member.kind === "record") parts.push(record(member));
    if (member.kind === "function" && isImported) parts.push(freeFunction(member));
    if (member.kind === "resource") parts.push(resource(member));
  }
  const head = [`// Made of wit/${parsed.name}.wit by scripts/build.mjs.`];
  if (isImported) head.push(`import { host } from "#wit/${parsed.name}";`, invokeImport(parts));
  if (parts.some((part) => part.includes(": Shape"))) head.push('import type { Shape } from "../shape.js";');
  for (const use of uses) {
    for (const used of use.names) {
      const text = parts.join("");
      if (used === "error" || !new RegExp(`\\b${pascal(used)}\\b`).test(text)) continue;
      head.push(`import type { ${pascal(used)} } from "./${use.from}.js";`);
    }
  }
  return `${head.join("\n")}\n\n${parts.join("\n")}`;
}
