(async (run, ask) => {
  const Unfit = class { constructor(text) { this.text = text; } };
  const wellFormed = text => /\\ud/i.test(text)
    ? text.replace(/\\(\\|ud[89a-f][0-9a-f]{2})/gi, escape => escape === "\\\\" ? escape : "\ufffd")
    : text;
  const isWindow = value => { try { return value.window === value; } catch { return false; } };
  const isNode = value => {
    try { return typeof value.nodeType === "number" && typeof value.nodeName === "string"; } catch { return false; }
  };
  const short = node => {
    try {
      if (node.nodeType !== 1) return node.nodeName;
      const named = name => node.getAttribute(name) ? ` ${name}="${node.getAttribute(name).slice(0, 60)}"` : "";
      return `<${node.nodeName.toLowerCase()}${["id", "name", "type", "class"].map(named).join("")}>`;
    } catch { return "a node"; }
  };
  const refuse = (value, type) => {
    if (type === "function") throw new Unfit("it comes to a function; call it, as in (...)(), and return what that returns");
    if (type === "symbol") throw new Unfit("it comes to a symbol; return its description");
    if (type === "number" && !Number.isFinite(value)) throw new Unfit(`it comes to ${value}, which JSON has no word for; return String(value), or null`);
    if (type !== "object" || value === null) return;
    if (isWindow(value)) throw new Unfit("it comes to a window; return what you need of it, such as location.href");
    if (isNode(value)) throw new Unfit(`it comes to a DOM node, ${short(value)}; return what you need of it, such as its textContent or outerHTML`);
  };
  const tag = value => Object.prototype.toString.call(value).slice(8, -1);
  const plain = value => {
    switch (tag(value)) {
      case "Map": case "Set": case "NodeList": case "HTMLCollection": return [...value];
      case "Error": return value instanceof Error ? { name: String(value.name), message: String(value.message) } : value;
      default: return value;
    }
  };
  const encode = value => {
    const above = [], inside = new Set();
    const replace = function (key, value) {
      while (above.length && above[above.length - 1].seen !== this) inside.delete(above.pop().value);
      if (typeof value === "bigint") throw new Unfit(`there is a BigInt${key === "" ? "" : ` at ${JSON.stringify(key)}`}; return String(value)`);
      if (value === null || typeof value !== "object") return value;
      if (inside.has(value)) throw new Unfit(`it contains itself, at ${JSON.stringify(key)}; return the parts that you need`);
      if (isWindow(value)) return "[window]";
      if (isNode(value)) return short(value);
      const seen = plain(value);
      above.push({ seen, value });
      inside.add(value);
      return seen;
    };
    try { return wellFormed(JSON.stringify(value, replace) ?? "null"); } catch (error) {
      if (error instanceof RangeError) throw new Unfit("it is nested too deeply, or too large; return the parts that you need");
      throw error;
    }
  };
  const keep = bytes => {
    try {
      let kept = globalThis[ask.key];
      if (!kept) Object.defineProperty(globalThis, ask.key, { value: kept = new Map(), configurable: true });
      let end = Math.min(bytes.length, ask.keep);
      while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
      const number = Math.floor(Math.random() * 2 ** 53);
      kept.delete(number);
      kept.set(number, end < bytes.length ? bytes.slice(0, end) : bytes);
      while (kept.size > ask.results) kept.delete(kept.keys().next().value);
      return number;
    } catch { return null; }
  };
  const pack = value => {
    const type = typeof value;
    refuse(value, type);
    const text = encode(value);
    if (text.length * 3 > ask.most) {
      const bytes = new TextEncoder().encode(text);
      if (bytes.length > ask.most) {
        let end = ask.most;
        while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
        const beginning = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end));
        return JSON.stringify({ type, bytes: bytes.length, kept: keep(bytes) }) + "\n" + beginning;
      }
    }
    return JSON.stringify({ type }) + "\n" + text;
  };
  const fail = error => {
    const said = { failed: "exception", name: "", message: "", stack: "" };
    const text = value => String(value ?? "").slice(0, 3000);
    try {
      if (error instanceof Unfit) {
        said.failed = "unserialisable";
        said.message = text(error.text);
      } else if (error !== null && typeof error === "object" && "message" in error) {
        said.name = text(error.name);
        said.message = text(error.message);
        said.stack = text(error.stack);
      } else {
        said.message = text(error !== null && typeof error === "object" ? JSON.stringify(error) : String(error));
      }
    } catch { said.message = said.message || "what it threw cannot be read"; }
    return wellFormed(JSON.stringify(said)) + "\n";
  };
  try { return pack(await run()); } catch (error) { return fail(error); }
})
