// Long texts in pieces. The last few stay as they were when their first piece was
// made, so that the pieces fit together though the page has changed since.

const kept = new Map();
let texts = 0;
const encoder = new TextEncoder();

// The first piece of a text, or the one of a cursor; none where the cursor's text
// is not kept any more.
function piece(cursor, bytes, make) {
  let [name, start] = [null, 0];
  if (cursor) {
    const found = /^([a-z0-9]{3,20})\.(\d{1,9})$/.exec(cursor);
    if (!found || !kept.has(found[1])) return { problem: 'cursor' };
    [name, start] = [found[1], Number(found[2])];
  } else {
    name = `${DOCUMENT}t${++texts}`;
    kept.set(name, make());
    for (const old of kept.keys()) {
      if (kept.size <= 3) break;
      kept.delete(old);
    }
  }
  const { text, ...rest } = kept.get(name);
  const end = cut(text, Math.min(start, text.length), bytes);
  return {
    ...rest,
    text: text.slice(start, end).toWellFormed(),
    start,
    total: text.length,
    next: end < text.length ? `${name}.${end}` : null,
  };
}

// Where to end, so that the piece has at most so many bytes; behind a line where
// that keeps half of them.
function cut(text, start, bytes) {
  const { read } = encoder.encodeInto(text.slice(start, start + bytes), new Uint8Array(bytes));
  const most = start + read;
  if (most >= text.length) return text.length;
  const line = text.lastIndexOf('\n', most - 1) + 1;
  return line > start + read / 2 ? line : Math.max(most, start + 1);
}
