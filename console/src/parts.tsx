// What views are made of.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, part } from "./api";
import { language, say, type Word } from "./words";

/** A time in the zone of the reader, with UTC on hover. */
export function Moment({ at }: { at: string }) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  const shown = time.toLocaleString(language, isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "medium" });
  return (
    <time dateTime={at} title={at}>
      {shown}
    </time>
  );
}

export function duration(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(milliseconds < 1 ? 2 : 1)} ms`;
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (count >= 1_024 && unit < units.length - 1) {
    count /= 1_024;
    unit += 1;
  }
  return `${unit === 0 ? count : count.toFixed(1)} ${units[unit]}`;
}

export function Status({ of }: { of: string }) {
  return <span class={`status status-${of.replace(/[^a-z-]/g, "")}`}>{of}</span>;
}

/** In which session something is, by which assistant and in which thread, with the way to all that the session has. */
export function SessionOf({ of }: { of: { tenant: string; session: string; assistant?: string | null; thread?: string | null } }) {
  const within = [of.assistant, of.thread].filter(Boolean).join(" · ");
  return (
    <>
      <a href={`#/sessions/${part(of.tenant)}/${part(of.session)}`}>{of.session}</a>
      {within && ` · ${within}`}
    </>
  );
}

export function Empty({ word }: { word: Word }) {
  return <p class="empty">{say(word)}</p>;
}

/** Names of the same kind. */
export function Chips({ of }: { of: string[] }) {
  if (of.length === 0) return <>{say("none")}</>;
  return (
    <ul class="chips">
      {of.map((one) => (
        <li key={one}>
          <code>{one}</code>
        </li>
      ))}
    </ul>
  );
}

/** What could not be done, where anything could not. */
export function Problem({ of }: { of: string }) {
  if (of === "") return null;
  return (
    <p class="problem" role="alert">
      {of}
    </p>
  );
}

/** How much of a quota is used, in a word and a bar; `null` where there is none. */
export function Used({ most, of, shown }: { most: number; of: number | null; shown: (count: number) => string }) {
  if (of === null || of === 0) return <>{shown(most)}</>;
  const share = Math.min(1, most / of);
  return (
    <span class={share >= 0.9 ? "near" : undefined} title={`${shown(most)} / ${shown(of)}`}>
      <meter min={0} max={1} high={0.9} value={share} aria-label={`${Math.round(share * 100)} %`} /> {Math.round(share * 100)} %
    </span>
  );
}

/** Reads something now and again and again; what it came to last, and why it could not be read. */
export function useRead<T>(read: () => Promise<T>, each: number, of: unknown): { value: T | null; problem: string } {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isOver = false;
    const follow = async () => {
      while (!isOver) {
        try {
          const found = await read();
          if (isOver) return;
          setValue(() => found);
          setProblem("");
        } catch (error) {
          if (!isOver) setProblem(error instanceof Refused ? error.message : String(error));
        }
        await new Promise((done) => setTimeout(done, each));
      }
    };
    void follow();
    return () => {
      isOver = true;
    };
  }, [of]);
  return { value, problem };
}

/** A button that asks the host for something, and says why where it is refused. */
export function Act(props: { label: string; act: () => Promise<unknown>; confirm?: Word; class?: string; describedBy?: string }) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const click = async () => {
    if (props.confirm && !window.confirm(say(props.confirm))) return;
    setBusy(true);
    setProblem("");
    try {
      await props.act();
    } catch (error) {
      setProblem(error instanceof Refused ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class={props.class} disabled={isBusy} aria-describedby={props.describedBy} onClick={click}>
        {props.label}
      </button>
      {problem && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

export interface Column<Row> {
  word: Word;
  cell: (row: Row) => ComponentChildren;
  class?: string;
}

const ROW_HEIGHT = 37;
const BESIDE = 10;

/** A table of any length, of which the rows that are seen are drawn. */
export function Rows<Row>(props: { label: string; columns: Column<Row>[]; rows: Row[]; id: (row: Row) => string }) {
  const { columns, rows } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, count: 60 });
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const look = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / ROW_HEIGHT) - BESIDE);
      setSeen({ first, count: Math.ceil(element.clientHeight / ROW_HEIGHT) + 2 * BESIDE });
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      sizes.disconnect();
    };
  }, []);
  const last = Math.min(rows.length, seen.first + seen.count);
  const shown = rows.slice(seen.first, last);
  return (
    <div class="rows" ref={frame} tabIndex={0} role="region" aria-label={props.label}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.word} scope="col" class={column.class}>
                {say(column.word)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {seen.first > 0 && <tr aria-hidden="true" style={{ height: `${seen.first * ROW_HEIGHT}px` }} />}
          {shown.map((row, index) => (
            <tr key={props.id(row)} aria-rowindex={seen.first + index + 2}>
              {columns.map((column) => (
                <td key={column.word} class={column.class}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {last < rows.length && <tr aria-hidden="true" style={{ height: `${(rows.length - last) * ROW_HEIGHT}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

export function Heading({ word, children }: { word: Word; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // Who reads with a screen reader hears where a link has led.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="heading">
      <h1 tabIndex={-1} ref={heading}>
        {say(word)}
      </h1>
      {children}
    </div>
  );
}
