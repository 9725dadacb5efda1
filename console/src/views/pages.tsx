// Web pages of all plugins. What a page calls itself is foreign text, and its address no link.

import { useEffect, useState } from "preact/hooks";
import { Refused, get, part, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Problem, Rows, SessionOf, Status, useRead } from "../parts";
import type { PageEntry, PageLookReport } from "../types";
import { say } from "../words";

/** How long after one picture, and one reading of the logs, the next one is asked for. */
const EACH = 1_000;

const close = (page: string) => remove(`/v1/operator/pages/${part(page)}`);

export function Pages({ rest }: { rest: string }) {
  return rest ? <Watched page={rest} /> : <All />;
}

/** What is seen of a page, a picture a second. One that cannot be drawn now is tried again. */
function Picture({ page }: { page: string }) {
  const [number, setNumber] = useState(0);
  const [problem, setProblem] = useState("");
  const address = `/v1/operator/pages/${part(page)}/picture`;
  const again = () => void setTimeout(() => document.hidden || setNumber((number) => number + 1), EACH);
  useEffect(() => {
    // A page of the browser that nobody sees asks for none.
    const shown = () => document.hidden || setNumber((number) => number + 1);
    document.addEventListener("visibilitychange", shown);
    return () => document.removeEventListener("visibilitychange", shown);
  }, []);
  const failed = () => {
    get(address).then(
      () => setProblem(""),
      (error: unknown) => setProblem(error instanceof Refused ? error.message : ""),
    );
    again();
  };
  return (
    <>
      <Problem of={problem} />
      <img class="picture" alt={say("picture")} src={`${address}?${number}`} onLoad={() => (setProblem(""), again())} onError={failed} />
    </>
  );
}

function Console({ entries }: { entries: PageEntry[] }) {
  if (entries.length === 0) return <Empty word="noEntries" />;
  return (
    <pre class="output" tabIndex={0} aria-label={say("pageConsole")}>
      {entries.map((entry) => `${entry.time.slice(11, 23)} ${entry.kind}: ${entry.text ?? ""}`).join("\n")}
    </pre>
  );
}

function Requests({ entries }: { entries: PageEntry[] }) {
  return (
    <Rows
      label={say("requests")}
      rows={[...entries].reverse()}
      id={(entry) => String(entry.number)}
      columns={[
        { word: "time", cell: (entry) => <Moment at={entry.time} /> },
        { word: "what", cell: (entry) => `${entry.method ?? ""} ${entry.url ?? ""}`, class: "wide" },
        { word: "kind", cell: (entry) => entry.kind },
        { word: "outcome", cell: (entry) => (entry.denied ? <Status of="denied" /> : (entry.status ?? "")) },
        { word: "reason", cell: (entry) => entry.failure ?? "", class: "wide" },
      ]}
    />
  );
}

/** One page, watched. */
function Watched({ page }: { page: string }) {
  const { value: look, problem } = useRead(() => get<PageLookReport>(`/v1/operator/pages/${part(page)}`), EACH, page);
  const isOpen = look !== null && look.page.status !== "closed";
  return (
    <>
      <Heading word="pages">
        <a href="#/pages">{say("back")}</a>
        {isOpen && <Act label={say("close")} confirm="confirmStop" act={() => close(page)} />}
      </Heading>
      <Problem of={problem} />
      {!look ? (
        !problem && <p>{say("loading")}</p>
      ) : (
        <>
          <p>
            <Status of={look.page.status} /> {look.page.title} <code>{look.page.address}</code>
          </p>
          {isOpen && <Picture page={page} />}
          <h2>{say("pageConsole")}</h2>
          <Console entries={look.console} />
          <h2>{say("requests")}</h2>
          {look.requests.length === 0 ? <Empty word="noEntries" /> : <Requests entries={look.requests} />}
        </>
      )}
    </>
  );
}

function All() {
  const pages = useLive("pages").value?.pages;
  return (
    <>
      <Heading word="pages" />
      {!pages ? (
        <p>{say("loading")}</p>
      ) : pages.length === 0 ? (
        <Empty word="noPages" />
      ) : (
        <Rows
          label={say("pages")}
          rows={pages}
          id={(page) => page.id}
          columns={[
            { word: "title", cell: (page) => <a href={`#/pages/${part(page.id)}`}>{page.title || say("untitled")}</a>, class: "wide" },
            { word: "address", cell: (page) => page.address, class: "wide" },
            { word: "status", cell: (page) => <Status of={page.status} /> },
            { word: "plugin", cell: (page) => page.plugin },
            { word: "tenant", cell: (page) => page.tenant },
            { word: "session", cell: (page) => <SessionOf of={page} /> },
            { word: "started", cell: (page) => <Moment at={page.opened} /> },
            { word: "action", cell: (page) => <Act label={say("close")} confirm="confirmStop" act={() => close(page.id)} /> },
          ]}
        />
      )}
    </>
  );
}
