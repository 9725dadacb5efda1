// Streams of events of all plugins. What a stream says that it is about is foreign text.

import { useLive } from "../live";
import { Empty, Heading, Rows, SessionOf, Status, bytes, duration } from "../parts";
import { say } from "../words";

export function Streams() {
  const streams = useLive("streams").value?.streams;
  return (
    <>
      <Heading word="streams" />
      {!streams ? (
        <p>{say("loading")}</p>
      ) : streams.length === 0 ? (
        <Empty word="noStreams" />
      ) : (
        <Rows
          label={say("streams")}
          rows={streams}
          id={(stream) => stream.id}
          columns={[
            { word: "title", cell: (stream) => stream.title, class: "wide" },
            { word: "status", cell: (stream) => <Status of={stream.ended ?? stream.status ?? "open"} /> },
            { word: "turn", cell: (stream) => stream.turn, class: "number" },
            { word: "events", cell: (stream) => stream.events, class: "number" },
            { word: "size", cell: (stream) => bytes(stream.bytes), class: "number" },
            { word: "idle", cell: (stream) => duration(stream.idle_milliseconds), class: "number" },
            { word: "plugin", cell: (stream) => stream.plugin },
            { word: "tenant", cell: (stream) => stream.tenant },
            { word: "session", cell: (stream) => <SessionOf of={stream} /> },
          ]}
        />
      )}
    </>
  );
}
