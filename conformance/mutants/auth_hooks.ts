/** How the mutants of the area `auth` take hold of the golden gateway. */
import type { Context, Hooks } from "../golden/hooks.ts";
import { problemOf } from "../golden/problems.ts";

/** The golden gateway that repairs the key before it compares it. */
export function repairing(repair: (key: string) => string): Hooks {
  return { key: (key) => key === undefined ? undefined : repair(key) };
}

/** The golden gateway that reads the key in a way of its own; the right way gives undefined first. */
export function shownAs(
  read: (headers: Readonly<Record<string, string>>, path: string) =>
    | string
    | undefined,
): Hooks {
  return {
    key: (key, { request }) => read(request.headers, request.path) ?? key,
  };
}

/** The golden gateway whose refusals of a key have another content type. */
export function typed401(type: string, streamsOnly: boolean): Hooks {
  return {
    reply: (reply, { stream }) =>
      reply.status === 401 && (stream || !streamsOnly)
        ? { ...reply, headers: { ...reply.headers, "content-type": type } }
        : reply,
  };
}

/** The golden gateway that lets a refused request in where the test says so. */
export function admitting(test: (x: Context) => boolean): Hooks {
  return { admit: (problem, x) => test(x) ? undefined : problem };
}

/** The golden gateway that refuses a key with another problem. */
export function refusing(status: number, missing: boolean): Hooks {
  return {
    admit: (problem) =>
      problem !== undefined && problem.message.includes("missing") === missing
        ? problemOf(status, problem.message)
        : problem,
  };
}

/** Everything that the request shows as a key. */
export function shown({ request }: Context): string {
  return `${request.headers["x-api-key"] ?? ""} ${
    request.headers["authorization"] ?? ""
  }`;
}

/** The golden gateway that answers bytes that are no request in a way of its own. */
export function brokenLines(status: number): Hooks {
  return {
    reply: (reply, { request }) =>
      request.method === "" ? { ...reply, status } : reply,
  };
}

/** The golden gateway whose 401 bodies are changed. */
export function body401(
  change: (body: Record<string, unknown>) => object,
): Hooks {
  return {
    reply: (reply) =>
      reply.status === 401
        ? { ...reply, body: JSON.parse(JSON.stringify(change(reply.body))) }
        : reply,
  };
}
