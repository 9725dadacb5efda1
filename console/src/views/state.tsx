// What plugins keep in their state, beside their quotas.

import { useEffect, useState } from "preact/hooks";
import { Refused, exported, get, post } from "../api";
import { Act, Empty, Heading, Problem, Rows, Used, bytes } from "../parts";
import type { StateReport } from "../types";
import { say } from "../words";

export function State() {
  const [state, setState] = useState<StateReport[] | null>(null);
  const [problem, setProblem] = useState("");
  const read = () =>
    get<{ state: StateReport[] }>("/v1/operator/state").then(
      (answer) => (setState(answer.state), setProblem("")),
      (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
    );
  useEffect(() => void read(), []);
  return (
    <>
      <Heading word="kept">
        <Act label={say("reload")} act={read} />
      </Heading>
      <Problem of={problem} />
      {!state ? (
        <p>{say("loading")}</p>
      ) : state.length === 0 ? (
        <Empty word="noState" />
      ) : (
        <Rows
          label={say("kept")}
          rows={state}
          id={(one) => `${one.tenant} ${one.plugin} ${one.scope}`}
          columns={[
            { word: "tenant", cell: (one) => one.tenant },
            { word: "plugin", cell: (one) => one.plugin },
            { word: "scope", cell: (one) => one.scope },
            { word: "buckets", cell: (one) => one.buckets, class: "number" },
            { word: "entries", cell: (one) => one.entries, class: "number" },
            { word: "size", cell: (one) => bytes(one.bytes), class: "number" },
            { word: "fullest", cell: (one) => <Used most={one.most_bytes} of={one.quota_bytes} shown={bytes} /> },
            { word: "mostEntries", cell: (one) => <Used most={one.most_entries} of={one.quota_entries} shown={String} /> },
            {
              word: "action",
              cell: ({ tenant, plugin, scope }) => (
                <>
                  <a href={exported({ tenant, plugin, scope })} download>
                    {say("export")}
                  </a>{" "}
                  <Act label={say("clear")} confirm="confirmClear" act={() => post("/v1/operator/state/clear", { tenant, plugin, scope }).then(read)} />
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
