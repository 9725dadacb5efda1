// What the host does, as it changes: one stream of events for all that a view shows.

import { useEffect, useState } from "preact/hooks";
import { get } from "./api";
import type { Topic, Topics } from "./types";

export interface Live<T> {
  /** Nothing until the first copy has come. */
  value: T | null;
  isConnected: boolean;
}

const values = new Map<Topic, unknown>();
const wanted = new Map<Topic, number>();
const listeners = new Set<() => void>();
let source: EventSource | null = null;
let isConnected = true;
let opening = 0;

function tell(): void {
  listeners.forEach((listener) => listener());
}

/** Opens the stream of what is wanted now. Views that change together make one stream. */
function reopen(): void {
  cancelAnimationFrame(opening);
  opening = requestAnimationFrame(() => {
    source?.close();
    source = null;
    const topics = [...wanted.keys()];
    if (topics.length === 0) return;
    const opened = new EventSource(`/v1/operator/events?topics=${topics.join(",")}`);
    source = opened;
    opened.onopen = () => {
      isConnected = true;
      tell();
    };
    opened.onerror = () => {
      isConnected = false;
      tell();
      // A browser gives up where the host refuses; a request says whether that is for want of a cookie.
      if (opened.readyState === EventSource.CLOSED) {
        get("/v1/operator/hosts").then(reopen, () => setTimeout(reopen, 2_000));
      }
    };
    for (const topic of topics) {
      opened.addEventListener(topic, (event) => {
        values.set(topic, JSON.parse((event as MessageEvent<string>).data));
        tell();
      });
    }
  });
}

/** The list of a topic, as long as a view shows it. */
export function useLive<T extends Topic>(topic: T): Live<Topics[T]> {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    listeners.add(listener);
    const views = wanted.get(topic) ?? 0;
    wanted.set(topic, views + 1);
    if (views === 0) reopen();
    return () => {
      listeners.delete(listener);
      const left = (wanted.get(topic) ?? 1) - 1;
      if (left > 0) {
        wanted.set(topic, left);
      } else {
        wanted.delete(topic);
        values.delete(topic);
        reopen();
      }
    };
  }, [topic]);
  return { value: (values.get(topic) as Topics[T] | undefined) ?? null, isConnected };
}

/** Forgets everything, as of somebody who has signed out. */
export function forget(): void {
  values.clear();
  source?.close();
  source = null;
}
