// Sessions, by what each has.

import { useEffect, useState } from "preact/hooks";
import { Refused, archived, exported, get, post } from "../api";
import { Act, Empty, Heading, Moment, Problem, Rows, Used, bytes } from "../parts";
import type { SessionReport } from "../types";
import { say } from "../words";

/** Files are measured for each list. */
const EACH = 10_000;

export function Sessions() {
  const [sessions, setSessions] = useState<SessionReport[] | null>(null);
  const [problem, setProblem] = useState("");
  const read = () =>
    get<{ sessions: SessionReport[] }>("/v1/operator/sessions").then(
      (answer) => (setSessions(answer.sessions), setProblem("")),
      (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
    );
  useEffect(() => {
    void read();
    const again = setInterval(read, EACH);
    return () => clearInterval(again);
  }, []);
  const act = (what: string, { tenant, session }: SessionReport) =>
    post(`/v1/operator/sessions/${what}`, { tenant, session }).then(read);
  return (
    <>
      <Heading word="sessions" />
      <Problem of={problem} />
      {!sessions ? (
        <p>{say("loading")}</p>
      ) : sessions.length === 0 ? (
        <Empty word="noSessions" />
      ) : (
        <Rows
          label={say("sessions")}
          rows={sessions}
          id={(one) => `${one.tenant} ${one.session}`}
          columns={[
            { word: "tenant", cell: (one) => one.tenant },
            { word: "session", cell: (one) => one.session, class: "wide" },
            { word: "calls", cell: (one) => one.calls, class: "number" },
            { word: "processes", cell: (one) => one.processes, class: "number" },
            { word: "terminals", cell: (one) => one.terminals, class: "number" },
            { word: "pages", cell: (one) => one.pages, class: "number" },
            { word: "files", cell: (one) => one.file_bytes !== null && <Used most={one.file_bytes} of={one.file_quota_bytes} shown={bytes} />, class: "number" },
            { word: "used", cell: (one) => one.files_used && <Moment at={one.files_used} /> },
            {
              word: "action",
              cell: (one) => (
                <>
                  <Act label={say("endAll")} confirm="confirmStop" act={() => act("end", one)} />
                  {one.file_bytes !== null && (
                    <>
                      <Act label={say("removeFiles")} confirm="confirmRemove" act={() => act("remove-files", one)} />{" "}
                      <a href={archived({ tenant: one.tenant, session: one.session })} download>
                        {say("downloadFiles")}
                      </a>
                    </>
                  )}{" "}
                  <a href={exported({ tenant: one.tenant, session: one.session })} download>
                    {say("exportState")}
                  </a>{" "}
                  <Act
                    label={say("clearState")}
                    confirm="confirmClear"
                    act={() => post("/v1/operator/state/clear", { tenant: one.tenant, session: one.session })}
                  />
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
