// The reader of server-sent events, fed with every way to cut a stream.

import { EventReader } from "../dist/events.js";

const STREAM = "retry: 1500\n\n: alive\n\nid: 1\nevent: call\ndata: {\"a\":\"가\"}\n\r\nevent: end\r\ndata: x\r\ndata: y\r\n\r\nid\n\n";
const WHOLE = [
  { retryMs: 1500 },
  { alive: true },
  { event: { id: "1", kind: "call", data: '{"a":"가"}' } },
  { event: { id: undefined, kind: "end", data: "x\ny" } },
];

export function check(report) {
  const read = pieces => {
    const reader = new EventReader();
    return pieces.flatMap(piece => [...reader.read(piece)]);
  };
  const same = found => JSON.stringify(found) === JSON.stringify(WHOLE);
  report.check(same(read([STREAM])), "a stream of events is read as a whole", read([STREAM]));
  const cuts = [...STREAM].keys();
  const differs = [...cuts].find(at => !same(read([STREAM.slice(0, at), STREAM.slice(at)])));
  report.check(differs === undefined, "wherever it is cut, the same events come", differs);
  report.check(same(read([...STREAM])), "character by character, the same events come", read([...STREAM]));
}
