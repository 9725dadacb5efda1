// Requests to the host that serves this page. The cookie of the browser signs them.

/** What the host says went wrong. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const listeners = new Set<() => void>();

/** Calls `told` when the host does not know who this is any more. */
export function onSignedOut(told: () => void): () => void {
  listeners.add(told);
  return () => listeners.delete(told);
}

async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  const init: RequestInit = { method, credentials: "same-origin", redirect: "error" };
  if (body !== undefined) {
    init.headers = { "content-type": "application/json" };
    init.body = JSON.stringify(body);
  }
  const response = await fetch(path, init);
  if (response.ok) return response;
  if (response.status === 401 && !path.startsWith("/console/")) listeners.forEach((told) => told());
  const problem = await response.json().catch(() => null);
  const { code = "unavailable", message = response.statusText } = problem?.error ?? {};
  throw new Refused(response.status, code, message);
}

export const get = async <T>(path: string): Promise<T> => (await ask("GET", path)).json();

export const getText = async (path: string): Promise<string> => (await ask("GET", path)).text();

export async function post(path: string, body: unknown): Promise<void> {
  await ask("POST", path, body);
}

/** The answer of a request that brings one. */
export const answerOf = async <T>(path: string, body: unknown): Promise<T> => (await ask("POST", path, body)).json();

export async function remove(path: string): Promise<void> {
  await ask("DELETE", path);
}

/** A part of a path, of foreign text. */
export const part = encodeURIComponent;

/** Where the files of a session are taken from. */
export function archived(selection: { tenant: string; session: string }): string {
  return `/v1/operator/sessions/files?${new URLSearchParams(selection)}`;
}

/** Where what plugins keep is exported from. */
export function exported(selection: Record<string, string>): string {
  return `/v1/operator/state/export?${new URLSearchParams(selection)}`;
}
