// The hosts on this data directory, and those of the cluster.

import { part, post } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Rows, Status, duration } from "../parts";
import { say } from "../words";

export function Hosts() {
  const hosts = useLive("hosts").value?.hosts;
  const cluster = useLive("cluster").value?.cluster;
  const drain = (name: string, draining: boolean) => post(`/v1/operator/cluster/${part(name)}/drain`, { draining });
  return (
    <>
      <Heading word="hosts" />
      <h2>{say("inCluster")}</h2>
      {!cluster ? (
        <p>{say("loading")}</p>
      ) : cluster.length === 0 ? (
        <Empty word="noCluster" />
      ) : (
        <Rows
          label={say("inCluster")}
          rows={cluster}
          id={(host) => `${host.name} ${host.address} ${host.state}`}
          columns={[
            { word: "name", cell: (host) => host.name },
            { word: "state", cell: (host) => <Status of={host.state} /> },
            { word: "sessions", cell: (host) => host.sessions, class: "number" },
            { word: "calls", cell: (host) => host.calls, class: "number" },
            { word: "beat", cell: (host) => duration(host.silent_milliseconds), class: "number" },
            { word: "version", cell: (host) => host.version },
            { word: "address", cell: (host) => host.address },
            {
              word: "action",
              cell: (host) =>
                host.state === "draining" ? (
                  <Act label={say("resume")} act={() => drain(host.name, false)} />
                ) : (
                  host.state !== "dead" && <Act label={say("drain")} act={() => drain(host.name, true)} />
                ),
            },
          ]}
        />
      )}
      <h2>{say("onThisData")}</h2>
      <Rows
        label={say("onThisData")}
        rows={hosts ?? []}
        id={(host) => String(host.pid)}
        columns={[
          { word: "process", cell: (host) => host.pid, class: "number" },
          { word: "version", cell: (host) => host.version },
          { word: "started", cell: (host) => <Moment at={host.started} /> },
          { word: "running", cell: (host) => host.calls_running, class: "number" },
          { word: "waiting", cell: (host) => host.calls_waiting, class: "number" },
          { word: "approvals", cell: (host) => host.approvals_waiting, class: "number" },
        ]}
      />
    </>
  );
}
