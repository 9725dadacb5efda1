// Processes of all plugins, and what one of them prints.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, part, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Problem, Rows, SessionOf, Status, bytes, useRead } from "../parts";
import type { ProcessLookReport } from "../types";
import { say } from "../words";
import { ProcessBounds, Tree } from "./bounds";

interface Output {
  from: number;
  next: number;
  text: string;
}

/** How often its tree is looked at. */
const LOOK = 2_000;
/** What is shown of what a process has printed. */
const SHOWN = 256 << 10;

/** What is printed, from its end on, once a second. */
function useOutput(id: string, stream: "stdout" | "stderr"): string {
  const [text, setText] = useState("");
  const next = useRef<number | null>(null);
  useEffect(() => {
    next.current = null;
    setText("");
    let isOver = false;
    const read = async () => {
      while (!isOver) {
        const from = next.current === null ? "" : `&from=${next.current}`;
        const piece = await get<Output>(`/v1/operator/processes/${part(id)}/output?stream=${stream}${from}`).catch(() => null);
        if (isOver) return;
        if (piece) {
          next.current = piece.next;
          if (piece.text) setText((before) => (before + piece.text).slice(-SHOWN));
        }
        if (!piece?.text) await new Promise((done) => setTimeout(done, 1_000));
      }
    };
    void read();
    return () => {
      isOver = true;
    };
  }, [id, stream]);
  return text;
}

function One({ id }: { id: string }) {
  const process = useLive("processes").value?.processes.find((process) => process.id === id);
  const [stream, setStream] = useState<"stdout" | "stderr">("stdout");
  const text = useOutput(id, stream);
  const { value: look, problem } = useRead(() => get<ProcessLookReport>(`/v1/operator/processes/${part(id)}`), LOOK, id);
  return (
    <>
      <Heading word="process">
        <a href="#/processes">{say("back")}</a>
      </Heading>
      {process && (
        <p class="of">
          <code>{process.command}</code> <Status of={process.status} /> {process.reason ?? ""} {say("plugin")} {process.plugin} ·{" "}
          {say("tenant")} {process.tenant} · {say("session")} {process.session} · pid {process.pid ?? "–"}
        </p>
      )}
      <div class="answers">
        <button type="button" aria-pressed={stream === "stdout"} onClick={() => setStream("stdout")}>
          {say("output")} {process ? bytes(process.stdout_bytes) : ""}
        </button>
        <button type="button" aria-pressed={stream === "stderr"} onClick={() => setStream("stderr")}>
          {say("errors")} {process ? bytes(process.stderr_bytes) : ""}
        </button>
        <Act label={say("stop")} class="danger" confirm="confirmStop" act={() => remove(`/v1/operator/processes/${part(id)}`)} />
      </div>
      <pre class="output" tabIndex={0} aria-label={say(stream === "stdout" ? "output" : "errors")}>
        {text}
      </pre>
      <Problem of={problem} />
      {look && (
        <>
          <h2>{say("tree")}</h2>
          <Tree of={look.tree} />
          <ProcessBounds of={look} />
        </>
      )}
      {process && (
        <details>
          <summary>{say("polls")}</summary>
          <pre>{JSON.stringify(process.polls, null, 2)}</pre>
        </details>
      )}
    </>
  );
}

export function Processes({ rest }: { rest: string }) {
  const processes = useLive("processes").value?.processes;
  if (rest) return <One id={rest} />;
  return (
    <>
      <Heading word="processes" />
      {!processes ? (
        <p>{say("loading")}</p>
      ) : processes.length === 0 ? (
        <Empty word="noProcesses" />
      ) : (
        <Rows
          label={say("processes")}
          rows={[...processes].reverse()}
          id={(process) => process.id}
          columns={[
            { word: "command", cell: (one) => <a href={`#/processes/${part(one.id)}`}>{one.command}</a>, class: "wide" },
            { word: "status", cell: (one) => <Status of={one.status} /> },
            { word: "plugin", cell: (one) => one.plugin },
            { word: "tenant", cell: (one) => one.tenant },
            { word: "session", cell: (one) => <SessionOf of={one} /> },
            { word: "output", cell: (one) => bytes(one.stdout_bytes + one.stderr_bytes), class: "number" },
            { word: "started", cell: (one) => <Moment at={one.started} /> },
          ]}
        />
      )}
    </>
  );
}
