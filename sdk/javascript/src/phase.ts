// Whether a call runs. The top level of a module runs at build, where there is no host: both engines
// keep what it made in the component, and each call begins with a copy of that.

let running = false;

/** Says that the host has called. */
export function begin(): void {
  running = true;
}

/** Whether the host has called. */
export function isRunning(): boolean {
  return running;
}
