// The console: signing in, and the views.

import "@xterm/xterm/css/xterm.css";
import "./style.css";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Refused, get, onSignedOut, post, remove } from "./api";
import { forget, useLive } from "./live";
import { Approvals } from "./views/approvals";
import { Audit } from "./views/audit";
import { Grants } from "./views/grants";
import { Hosts } from "./views/hosts";
import { Metrics } from "./views/metrics";
import { Now } from "./views/now";
import { Pages } from "./views/pages";
import { Plugins } from "./views/plugins";
import { Processes } from "./views/processes";
import { Sessions } from "./views/sessions";
import { State } from "./views/state";
import { Streams } from "./views/streams";
import { Terminals } from "./views/terminals";
import { language, say, type Word } from "./words";

const VIEWS: { path: string; word: Word; view: (props: { rest: string }) => preact.JSX.Element }[] = [
  { path: "now", word: "now", view: Now },
  { path: "approvals", word: "approvals", view: Approvals },
  { path: "sessions", word: "sessions", view: Sessions },
  { path: "terminals", word: "terminals", view: Terminals },
  { path: "processes", word: "processes", view: Processes },
  { path: "pages", word: "pages", view: Pages },
  { path: "streams", word: "streams", view: Streams },
  { path: "plugins", word: "plugins", view: Plugins },
  { path: "grants", word: "grants", view: Grants },
  { path: "state", word: "kept", view: State },
  { path: "metrics", word: "metrics", view: Metrics },
  { path: "hosts", word: "hosts", view: Hosts },
  { path: "audit", word: "audit", view: Audit },
];

/** `#/VIEW/REST`. */
function place(): { path: string; rest: string } {
  const [path = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { path, rest: decodeURIComponent(rest.join("/")) };
}

function usePlace() {
  const [now, setNow] = useState(place);
  useEffect(() => {
    const moved = () => setNow(place());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return now;
}

function Shell({ signedOut }: { signedOut: () => void }) {
  const { path, rest } = usePlace();
  const hosts = useLive("hosts");
  const host = hosts.value?.hosts[0];
  const approvals = useLive("approvals");
  const view = VIEWS.find((view) => view.path === path) ?? VIEWS[0]!;
  const View = view.view;
  const waiting = approvals.value?.approvals.length ?? 0;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${say(view.word)} – Wharf`;
  }, [view, waiting]);
  const signOut = async (everywhere: boolean) => {
    await remove(`/console/session${everywhere ? "?everywhere=true" : ""}`);
    signedOut();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById("main")?.focus())}>
        {say("skip")}
      </a>
      <nav aria-label={say("views")}>
        <span class="brand">Wharf</span>
        <ul>
          {VIEWS.map(({ path, word }) => (
            <li key={path}>
              <a href={`#/${path}`} aria-current={path === view.path ? "page" : undefined}>
                {say(word)}
                {word === "approvals" && waiting > 0 && <span class="badge">{waiting}</span>}
              </a>
            </li>
          ))}
        </ul>
        <div class="person">
          {host && (
            <span class="version" title={`pid ${host.pid}`}>
              {host.name ?? "wharf"} {host.version}
            </span>
          )}
          <button type="button" onClick={() => signOut(false)}>
            {say("signOut")}
          </button>
          <button type="button" onClick={() => signOut(true)}>
            {say("signOutEverywhere")}
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        {!hosts.isConnected && (
          <p class="problem" role="status">
            {say("disconnected")}
          </p>
        )}
        <p class="heard" aria-live="polite">
          {waiting > 0 ? `${say("approvals")}: ${waiting}` : ""}
        </p>
        <View key={`${view.path}/${rest}`} rest={rest} />
      </main>
    </>
  );
}

function SignIn({ signedIn, problem }: { signedIn: () => void; problem: string }) {
  const [token, setToken] = useState("");
  const [refused, setRefused] = useState(problem);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await post("/console/session", { token: token.trim() });
      signedIn();
    } catch (error) {
      setRefused(error instanceof Refused ? error.message : String(error));
    }
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>Wharf</h1>
        <label for="token">{say("token")}</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          aria-describedby="token-hint"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <p id="token-hint" class="hint">
          {say("tokenHint")}
        </p>
        {refused && (
          <p class="problem" role="alert">
            {refused}
          </p>
        )}
        <button type="submit" disabled={token.trim() === ""}>
          {say("signIn")}
        </button>
      </form>
    </main>
  );
}

type Person = "unknown" | "in" | "out";

function App() {
  const [person, setPerson] = useState<Person>("unknown");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = onSignedOut(() => (forget(), setPerson("out")));
    const begin = async () => {
      // A link that signs in once: its code is no part of any address afterwards.
      const code = /^#([0-9a-f]{64})$/.exec(location.hash)?.[1];
      if (code) {
        history.replaceState(null, "", "/console#/now");
        await post("/console/session", { code }).catch((error: Error) => setProblem(error.message));
      }
      await get("/v1/operator/hosts").then(
        () => setPerson("in"),
        () => setPerson("out"),
      );
    };
    void begin();
    return stop;
  }, []);
  if (person === "unknown") return <main class="sign-in">{say("loading")}</main>;
  if (person === "out") return <SignIn problem={problem} signedIn={() => setPerson("in")} />;
  return <Shell signedOut={() => (forget(), setPerson("out"))} />;
}

document.documentElement.lang = language;
render(<App />, document.getElementById("app")!);
