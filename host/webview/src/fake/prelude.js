(native => {
  const timers = new Map();
  let last = 0;
  globalThis.setTimeout = (run, wait = 0, ...with_) => {
    timers.set(++last, { at: Date.now() + Math.max(0, Number(wait) || 0), run, with_ });
    return last;
  };
  globalThis.clearTimeout = id => { timers.delete(id); };
  globalThis.alert = (message = "") => { native.ask("alert", String(message), ""); };
  globalThis.confirm = (message = "") => native.ask("confirm", String(message), "") != null;
  globalThis.prompt = (message = "", text = "") => native.ask("prompt", String(message), String(text)) ?? null;
  globalThis.console = {};
  for (const kind of ["log", "info", "warning", "error"]) {
    globalThis.console[kind] = (...said) => native.log(kind, said.map(String).join(" "));
  }
  globalThis.TextEncoder = class { encode(text) { return native.encode(String(text)); } };
  globalThis.TextDecoder = class {
    decode(bytes) {
      let said = "";
      for (let at = 0; at < bytes.length; at += 8192) said += String.fromCharCode(...bytes.subarray(at, at + 8192));
      return native.decode(said);
    }
  };
  globalThis.document = { title: native.title };
  const location = {
    get href() { return native.url; },
    set href(url) { native.go(String(url)); },
    assign(url) { native.go(String(url)); },
    toString() { return native.url; },
  };
  Object.defineProperty(globalThis, "location", { get: () => location, set: url => native.go(String(url)) });
  globalThis.window = globalThis;
  return {
    title: () => String(globalThis.document?.title ?? ""),
    wait: () => Math.min(...[...timers.values()].map(timer => timer.at - Date.now()), 1e9),
    run: () => {
      const due = [...timers].filter(([, timer]) => timer.at <= Date.now());
      for (const [id] of due) timers.delete(id);
      for (const [, timer] of due) timer.run(...timer.with_);
    },
  };
})
