// The host that plays for a test: what `#wit/NAME` leads to outside of a component.

import { AsyncLocalStorage } from "node:async_hooks";

import { begin } from "../phase.js";

/** Functions of one interface, by the names that JavaScript has for them. */
export type FakeInterface = Readonly<Record<string, unknown>>;

/** What a host in memory hands to the kit: an interface by its name in the contract. */
export interface FakeHost {
  fake(name: string): FakeInterface;
}

const current = new AsyncLocalStorage<FakeHost>();

/** Runs `act`, and whatever it waits for, with this host. */
export function within<Result>(host: FakeHost, act: () => Result): Result {
  begin();
  return current.run(host, act);
}

/** An interface of whichever host runs when a function of it is called. */
export function fakeInterface(name: string): FakeInterface {
  return new Proxy(
    {},
    {
      get(_, member) {
        const host = current.getStore();
        if (host === undefined) {
          throw new Error(`wharf:plugin/${name} was called without a host: in tests, use TestHost of @wharf/sdk/testing`);
        }
        return host.fake(name)[member as string];
      },
    },
  );
}
