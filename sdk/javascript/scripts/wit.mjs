// Reads the part of WIT that the contract is written in: records, one resource, functions.
// Anything else stops the build, since a guess would become a wrong binding.

const TOKEN = /\/\/\/[^\n]*|\/\/[^\n]*|->|%?[a-z][a-z0-9-]*|[{}()<>,:;.=@/*_]|[0-9]+(?:\.[0-9]+)*|\s+/gy;

/** Splits a text into tokens, without blanks and plain comments. */
function tokens(text, file) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`${file}: cannot read ${JSON.stringify(text.slice(at, at + 30))}`);
    const [token] = match;
    if (token.startsWith("///")) found.push(token);
    else if (!token.startsWith("//") && token.trim() !== "") found.push(token);
  }
  return found;
}

/**
 * Parses one file of the contract.
 *
 * @returns {{version: string, interfaces: object[]}} worlds are left out
 */
export function parse(text, file) {
  const queue = tokens(text, file);
  let next = 0;
  const peek = () => queue[next];
  const take = (expected) => {
    const token = queue[next++];
    if (expected !== undefined && token !== expected) {
      throw new Error(`${file}: expected \`${expected}\`, found \`${token}\``);
    }
    return token;
  };
  const name = () => take().replace(/^%/, "");
  const docs = () => {
    const lines = [];
    while (peek()?.startsWith("///")) lines.push(take().replace(/^\/\/\/ ?/, ""));
    return lines;
  };

  const listOf = (close, item) => {
    const items = [];
    while (peek() !== close) {
      items.push(item());
      if (peek() === ",") take();
    }
    take(close);
    return items;
  };

  const type = () => {
    const word = name();
    if (word === "_") return { kind: "unit" };
    if (!["list", "option", "tuple", "result"].includes(word)) return { kind: "name", name: word };
    if (peek() !== "<") return { kind: word, of: [] };
    take("<");
    return { kind: word, of: listOf(">", type) };
  };

  const parameter = () => {
    const parameterName = name();
    take(":");
    return { name: parameterName, type: type() };
  };

  const signature = (functionName, doc) => {
    const isStatic = peek() === "static";
    if (isStatic) take();
    take("func");
    take("(");
    const parameters = listOf(")", parameter);
    let result = { kind: "unit" };
    if (peek() === "->") {
      take();
      result = type();
    }
    take(";");
    return { kind: "function", name: functionName, doc, isStatic, parameters, result };
  };

  const record = (doc) => {
    const recordName = name();
    take("{");
    const fields = listOf("}", () => ({ doc: docs(), ...parameter() }));
    return { kind: "record", name: recordName, doc, fields };
  };

  const resource = (doc) => {
    const resourceName = name();
    const functions = [];
    take("{");
    while (peek() !== "}") {
      const functionDoc = docs();
      const functionName = name();
      take(":");
      functions.push(signature(functionName, functionDoc));
    }
    take("}");
    return { kind: "resource", name: resourceName, doc, functions };
  };

  const member = (doc) => {
    const word = take();
    if (word === "record") return record(doc);
    if (word === "resource") return resource(doc);
    if (word === "use") {
      const from = name();
      take(".");
      take("{");
      const names = listOf("}", name);
      take(";");
      return { kind: "use", from, names };
    }
    take(":");
    return signature(word.replace(/^%/, ""), doc);
  };

  take("package");
  while (peek() !== "@") take();
  take("@");
  const version = take();
  take(";");

  const interfaces = [];
  while (next < queue.length) {
    const doc = docs();
    const word = take();
    if (word === "world") {
      while (take() !== "}");
      continue;
    }
    if (word !== "interface") throw new Error(`${file}: expected an interface, found \`${word}\``);
    const interfaceName = name();
    const members = [];
    take("{");
    while (peek() !== "}") members.push(member(docs()));
    take("}");
    interfaces.push({ name: interfaceName, doc, members });
  }
  return { version, interfaces };
}
