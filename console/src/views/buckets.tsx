// What plugins keep of one selection, bucket by bucket.

import { get } from "../api";
import { Empty, Moment, Problem, Rows, bytes, useRead } from "../parts";
import type { BucketsReport } from "../types";
import { say } from "../words";

const EACH = 10_000;

export function Buckets({ of }: { of: Record<string, string> }) {
  const query = new URLSearchParams(of).toString();
  const { value, problem } = useRead(() => get<BucketsReport>(`/v1/operator/state/buckets?${query}`), EACH, query);
  return (
    <>
      <Problem of={problem} />
      {!value ? (
        !problem && <p>{say("loading")}</p>
      ) : value.buckets.length === 0 ? (
        <Empty word="noState" />
      ) : (
        <Rows
          label={say("buckets")}
          rows={value.buckets}
          id={(one) => [one.plugin, one.scope, one.session, one.assistant, one.thread, one.bucket].join(" ")}
          columns={[
            { word: "plugin", cell: (one) => one.plugin },
            { word: "scope", cell: (one) => one.scope },
            { word: "session", cell: (one) => one.session ?? "" },
            { word: "assistant", cell: (one) => one.assistant ?? "" },
            { word: "thread", cell: (one) => one.thread ?? "" },
            { word: "bucket", cell: (one) => one.bucket, class: "wide" },
            { word: "entries", cell: (one) => one.entries, class: "number" },
            { word: "size", cell: (one) => bytes(one.bytes), class: "number" },
            { word: "expires", cell: (one) => one.expires && <Moment at={one.expires} /> },
          ]}
        />
      )}
      {value && value.left_off > 0 && <p class="empty">{say("leftOff", { count: value.left_off })}</p>}
    </>
  );
}
