(async ask => {
  const bytes = globalThis[ask.key]?.get(ask.number);
  if (!bytes || ask.from >= bytes.length) return JSON.stringify({ gone: true }) + "\n";
  const inside = at => at < bytes.length && (bytes[at] & 0xc0) === 0x80;
  let start = ask.from;
  while (inside(start)) start++;
  let next = Math.min(start + ask.most, bytes.length);
  while (next > start && inside(next)) next--;
  if (next === start && next < bytes.length) { next++; while (inside(next)) next++; }
  const piece = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, next));
  return JSON.stringify({ start, next }) + "\n" + piece;
})
