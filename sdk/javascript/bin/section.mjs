// The section in which a component says why it asks for what it asks for.

/** An unsigned number as Wasm writes it. */
function leb128(value) {
  const bytes = [];
  do {
    const rest = Math.floor(value / 128);
    bytes.push((value % 128) | (rest > 0 ? 128 : 0));
    value = rest;
  } while (value > 0);
  return Buffer.from(bytes);
}

/** What `wharf grant` shows where the author gave no reason. HTTP is asked for by its reason alone. */
const WITHOUT_REASON = { http: "sends HTTP requests" };

/** The component with the custom section `wharf-plugin`, or as it was where there is nothing to say. */
export function withSection(component, { capabilities }, given) {
  const reasons = {};
  for (const name of capabilities) {
    const reason = given[name] ?? WITHOUT_REASON[name];
    if (reason !== undefined) reasons[name] = reason;
  }
  if (Object.keys(reasons).length === 0) return component;
  const name = Buffer.from("wharf-plugin");
  const payload = Buffer.concat([leb128(name.length), name, Buffer.from(JSON.stringify({ reasons }))]);
  return Buffer.concat([component, Buffer.from([0]), leb128(payload.length), payload]);
}
