// Sessions, by what each has.

import { useEffect, useState } from "preact/hooks";
import { Refused, archived, exported, get, post } from "../api";
import { Act, Empty, Heading, Moment, Problem, Rows, SessionOf, Used, bytes } from "../parts";
import type { SessionReport } from "../types";
import { say, type Word } from "../words";
import { Buckets } from "./buckets";

/** Files are measured for each list. */
const EACH = 10_000;

function useSessions() {
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
  return { sessions, problem, read };
}

export function Sessions({ rest }: { rest: string }) {
  const [tenant = "", session = ""] = rest.split("/");
  return rest ? <Session tenant={tenant} session={session} /> : <All />;
}

/** One session, and what a person may do with what it has. */
function Session({ tenant, session }: { tenant: string; session: string }) {
  const { sessions, problem, read } = useSessions();
  const one = sessions?.find((one) => one.tenant === tenant && one.session === session);
  const of = { tenant, session };
  const act = (what: string) => post(`/v1/operator/sessions/${what}`, of).then(read);
  const counts: [Word, number][] = one
    ? [["calls", one.calls], ["processes", one.processes], ["terminals", one.terminals], ["pages", one.pages]]
    : [];
  return (
    <>
      <Heading word="sessions">
        <a href="#/sessions">{say("back")}</a>
        <span>
          {tenant} · {session}
        </span>
      </Heading>
      <Problem of={problem} />
      {!sessions ? (
        !problem && <p>{say("loading")}</p>
      ) : (
        <>
          {!one && <Empty word="noSession" />}
          {one && (
            <article class="plugin" aria-label={say("running")}>
              <dl>
                {counts.map(([word, count]) => (
                  <>
                    <dt>{say(word)}</dt>
                    <dd>{count}</dd>
                  </>
                ))}
              </dl>
              <Act label={say("endAll")} confirm="confirmStop" act={() => act("end")} />
            </article>
          )}
          {one && one.file_bytes !== null && (
            <article class="plugin" aria-label={say("files")}>
              <h2>{say("files")}</h2>
              <p>
                <Used most={one.file_bytes} of={one.file_quota_bytes} shown={bytes} /> {bytes(one.file_bytes)}
              </p>
              <div class="answers">
                <a href={archived(of)} download>
                  {say("downloadFiles")}
                </a>
                <Act label={say("removeFiles")} class="danger" confirm="confirmRemove" act={() => act("remove-files")} />
              </div>
            </article>
          )}
          <article class="plugin" aria-label={say("kept")}>
            <h2>{say("kept")}</h2>
            <div class="answers">
              <a href={exported(of)} download>
                {say("exportState")}
              </a>
              <Act label={say("clearState")} class="danger" confirm="confirmClear" act={() => post("/v1/operator/state/clear", of)} />
            </div>
            <Buckets of={of} />
          </article>
        </>
      )}
    </>
  );
}

function All() {
  const { sessions, problem } = useSessions();
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
            { word: "session", cell: (one) => <SessionOf of={one} />, class: "wide" },
            { word: "calls", cell: (one) => one.calls, class: "number" },
            { word: "processes", cell: (one) => one.processes, class: "number" },
            { word: "terminals", cell: (one) => one.terminals, class: "number" },
            { word: "pages", cell: (one) => one.pages, class: "number" },
            { word: "files", cell: (one) => one.file_bytes !== null && <Used most={one.file_bytes} of={one.file_quota_bytes} shown={bytes} />, class: "number" },
            { word: "used", cell: (one) => one.files_used && <Moment at={one.files_used} /> },
          ]}
        />
      )}
    </>
  );
}
