// What the routes of the operator answer: see /v1/openapi.json.

export interface HostReport {
  version: string;
  pid: number;
  started: string;
  name: string | null;
  calls_running: number;
  calls_waiting: number;
  things_running: number;
  approvals_waiting: number;
  calls_ended: number;
  calls_failed: number;
  denials: number;
  durations: number[];
  trace_page: string | null;
}

/** Whose something is. */
export interface Owned {
  tenant: string;
  plugin: string;
  session: string;
}

export interface CallReport extends Owned {
  id: string;
  tool: string;
  assistant: string | null;
  thread: string | null;
  client: string | null;
  milliseconds: number;
  host_calls: number;
  memory_bytes: number;
}

export interface TurnReport {
  number: number;
  is_over: boolean;
  reason: string | null;
  confidence: string | null;
}

export interface TerminalReport extends Owned {
  id: string;
  assistant: string | null;
  command: string;
  status: string;
  columns: number;
  rows: number;
  pid: number | null;
  started: string;
  last_used: string;
  ended: string | null;
  because: string | null;
  restarts: number;
  recording: string | null;
  viewers: number;
  turn: TurnReport | null;
}

export interface ProcessReport extends Owned {
  id: string;
  command: string;
  status: string;
  pid: number | null;
  started: string;
  finished: string | null;
  exit: unknown;
  reason: string | null;
  descendants: number | null;
  stdout_bytes: number;
  stderr_bytes: number;
  polls: Record<string, unknown>;
}

export interface ContainmentReport {
  mechanism: string | null;
  network: boolean;
  user: number | null;
  writable: string[];
  readable: string[];
}

export interface TreeProcessReport {
  pid: number;
  parent: number;
  name: string;
  command: string;
  state: string;
  threads: number;
  resident_bytes: number;
  cpu_milliseconds: number;
}

export interface ProcessLookReport {
  process: ProcessReport;
  limits: Record<string, number | null> | null;
  containment: ContainmentReport | null;
  tree: TreeProcessReport[] | null;
}

export interface PluginLookReport {
  name: string;
  source: string | null;
  manifest: string | null;
  signer: string | null;
  added: string | null;
  added_by: string | null;
  pin: string | null;
  confirmed: string | null;
  contract: string[];
  says: Record<string, string>;
  limits: { name: string; value: number; default: number; description: string }[];
}

export interface PageReport extends Owned {
  id: string;
  address: string;
  title: string;
  status: string;
  opened: string;
  last_used: string;
  requests_pending: number;
}

export interface PluginReport {
  name: string;
  state: string;
  reason?: string;
  origin?: string;
  digest?: string;
  bytes?: number;
  tools: string[];
  imports: string[];
  wanted_grants: string[];
  grants: string[];
  withheld?: string;
}

/** A property of a tool's arguments, as far as a form shows it. */
export interface Property {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
}

export interface ToolReport {
  name: string;
  description: string;
  input_schema: { properties?: Record<string, Property>; required?: string[] };
}

export interface TrialReport {
  is_error: boolean;
  content: { mime_type: string; text?: string; bytes: number }[];
  structured?: unknown;
  asks?: string[];
}

export interface CapabilityReport {
  capability: string;
  can: string;
  risk: string;
  is_wanted: boolean;
  wanted_because: string | null;
  granted: Record<string, unknown> | null;
  denials: number;
}

export interface GrantsReport {
  plugin: string;
  digest: string;
  withheld: string | null;
  capabilities: CapabilityReport[];
}

export interface ChangeReport {
  place: string;
  difference: string;
  is_written: boolean;
}

export type Change =
  | { grant: { plugin: string; allow: string[]; reason: string; expires: string | null } }
  | { revoke: { plugin: string; capability: string } }
  | { confirm: { plugin: string } }
  | { "always-allow": { tool: string } }
  | { "always-allow-act": ApprovalRule };

export type PluginChange =
  | { add: { source: string; name: string | null; digest: string | null; pinned: boolean; functions: boolean } }
  | { update: { plugin: string; source: string | null; digest: string | null; confirm: boolean } }
  | { remove: { plugin: string } };

export interface FoundComponent {
  source: string;
  digest: string;
  manifest: string | null;
  signer: string | null;
  bytes: number;
  tools: string[];
  imports: string[];
  wanted_grants: string[];
  newly_wanted: string[];
  grants: string[];
}

export interface PluginChangeReport {
  plugin: string;
  component: FoundComponent | null;
  before: string | null;
  is_done: boolean;
}

/** An entry of the console of a page, or a request that it made. */
export interface PageEntry {
  number: number;
  time: string;
  kind: string;
  text?: string;
  url?: string;
  method?: string;
  status?: number;
  failure?: string;
  denied?: boolean;
}

export interface PageLookReport {
  page: PageReport;
  console: PageEntry[];
  requests: PageEntry[];
}

export interface StreamReport extends Owned {
  id: string;
  title: string;
  status: string | null;
  ended: string | null;
  turn: number;
  events: number;
  bytes: number;
  age_milliseconds: number;
  idle_milliseconds: number;
}

export interface StateReport {
  tenant: string;
  plugin: string;
  scope: string;
  buckets: number;
  entries: number;
  bytes: number;
  most_entries: number;
  most_bytes: number;
  quota_entries: number | null;
  quota_bytes: number | null;
}

/** What a rule allows for good, exactly as it is. */
export type ApprovalRule = { command: string } | { origin: string };

export interface ApprovalReport extends Owned {
  id: string;
  tool: string;
  digest?: string;
  assistant?: string;
  thread?: string;
  client?: string;
  arguments: string;
  argument_bytes: number;
  /** What the running call asks for, in words; absent where the call itself waits. */
  wants?: string;
  /** What would allow that for good; absent where no rule can say it. */
  rule?: ApprovalRule;
  waited_milliseconds: number;
  left_milliseconds: number;
}

/** A line of the audit; what is absent does not apply. */
export interface AuditLine {
  time: string;
  kind: string;
  id?: string;
  tenant?: string;
  session?: string;
  plugin?: string;
  tool?: string;
  client?: string;
  token?: string;
  subject?: string;
  address?: string;
  function?: string;
  asked?: string;
  before?: string;
  after?: string;
  outcome?: string;
  bytes_in?: number;
  bytes_out?: number;
  microseconds?: number;
  trace?: string;
  count?: number;
}

export interface ClusterHostReport {
  name: string;
  address: string;
  version: string;
  state: string;
  sessions: number;
  calls: number;
  silent_milliseconds: number;
}

export interface SessionReport {
  tenant: string;
  session: string;
  calls: number;
  processes: number;
  terminals: number;
  pages: number;
  file_bytes: number | null;
  file_quota_bytes: number | null;
  files_used: string | null;
}

export interface BucketReport {
  plugin: string;
  scope: string;
  session: string | null;
  assistant: string | null;
  thread: string | null;
  bucket: string;
  entries: number;
  bytes: number;
  expires: string | null;
}

export interface BucketsReport {
  buckets: BucketReport[];
  left_off: number;
}

export interface Topics {
  hosts: { hosts: HostReport[] };
  calls: { calls: CallReport[] };
  terminals: { terminals: TerminalReport[] };
  processes: { processes: ProcessReport[] };
  pages: { pages: PageReport[] };
  plugins: { plugins: PluginReport[] };
  streams: { streams: StreamReport[] };
  approvals: { approvals: ApprovalReport[] };
  cluster: { cluster: ClusterHostReport[] };
}

export type Topic = keyof Topics;
