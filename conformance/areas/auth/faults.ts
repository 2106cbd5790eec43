/** Changes to the reference gateway that the mutants of the area `auth` share. */
import { changeReplies } from "../../faults/change_hooks.ts";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import { problemOf } from "../../reference_gateway/problems.ts";

export function changeKey(repair: (key: string) => string): Hooks {
  return { key: (key) => key === undefined ? undefined : repair(key) };
}

/** Reads the key in another way first; the usual way is used when that finds none. */
export function readKeyFirst(
  read: (headers: Readonly<Record<string, string>>, path: string) =>
    | string
    | undefined,
): Hooks {
  return {
    key: (key, { request }) => read(request.headers, request.path) ?? key,
  };
}

export function typed401(type: string, streamsOnly: boolean): Hooks {
  return {
    reply: (reply, { stream }) =>
      reply.status === 401 && (stream || !streamsOnly)
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

/** Accepts refused requests that satisfy the test. */
export function acceptWhere(test: (x: Context) => boolean): Hooks {
  return { admit: (problem, x) => test(x) ? undefined : problem };
}

/** Refuses a missing or a wrong key with another status. */
export function refuseKey(status: number, missing: boolean): Hooks {
  return {
    admit: (problem) =>
      problem !== undefined && problem.message.includes("missing") === missing
        ? problemOf(status, problem.message)
        : problem,
  };
}

/** Everything in the request that could be a key. */
export function shown({ request }: Context): string {
  return `${request.headers["x-api-key"] ?? ""} ${
    request.headers["authorization"] ?? ""
  }`;
}

export function brokenLines(status: number): Hooks {
  return {
    reply: (reply, { request }) =>
      request.method === "" ? { ...reply, status } : reply,
  };
}

export function body401(
  change: (body: Record<string, unknown>) => object,
): Hooks {
  return changeReplies(
    { status: 401 },
    (reply) => ({ body: JSON.parse(JSON.stringify(change(reply.body))) }),
  );
}
