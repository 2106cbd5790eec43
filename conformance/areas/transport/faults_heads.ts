/** Mutants for the checks of the area `transport` about the heads of replies. */
import type { Hooks, JsonReply } from "../../reference_gateway/hooks.ts";

type Headers = Readonly<Record<string, string>>;

/** Changes the headers of streams. */
export function streams(change: (headers: Headers) => Headers): Hooks {
  return { streamHeaders: change };
}

/** Changes the headers of JSON replies. */
export function json(
  change: (headers: Headers, reply: JsonReply) => Headers,
): Hooks {
  return {
    reply: (reply) => ({ ...reply, headers: change(reply.headers, reply) }),
  };
}

/** Changes the headers of all replies. */
export function all(change: (headers: Headers) => Headers): Hooks {
  return { ...streams(change), ...json(change) };
}

export function without(headers: Headers, ...names: string[]): Headers {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.includes(name)),
  );
}

export const typed = (type: string) => (headers: Headers): Headers => ({
  ...headers,
  "content-type": type,
});

export const SAME_IDS = {
  "request-id": "req_1",
  "x-request-id": "req_1",
} as const;
