/** How the mutants of the area `limits` take hold of the golden gateway. */
import type { Context, Hooks } from "../golden/hooks.ts";
import type { Ask, Part, Problem } from "../golden/part.ts";
import { problemOf } from "../golden/problems.ts";
import type { JsonObject } from "../replay/json.ts";

/** The golden gateway that refuses more. */
export function refusing(
  param: string,
  test: (body: JsonObject, x: Context) => boolean,
): Hooks {
  return {
    accept: (problem, body, x) =>
      test(body, x) ? invalid(param, `${param}: not possible`) : problem,
  };
}

/** A refusal that names a field. */
export function invalid(param: string, message: string): Problem {
  return { ...problemOf(400, message), param };
}

/** The golden gateway that repairs a body before it looks at it. */
export function repairing(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return {
    request: (request, x) => {
      if (x.endpoint !== "messages" && x.endpoint !== "chat") return request;
      const body = JSON.parse(request.body);
      return { ...request, body: JSON.stringify(change(body, x)) };
    },
  };
}

/** The golden gateway that overlooks a field. */
export function overlooking(
  test: (body: JsonObject, x: Context) => boolean,
): Hooks {
  return {
    accept: (problem, body, x) =>
      problem !== undefined && test(body, x) ? undefined : problem,
  };
}

/** The body with a number in a field changed; a field that is not there stays away. */
export function field(
  body: JsonObject,
  name: string,
  change: (value: number) => unknown,
): JsonObject {
  const value = body[name];
  return value === undefined || value === null
    ? body
    : JSON.parse(JSON.stringify({ ...body, [name]: change(Number(value)) }));
}

/** The golden gateway that understands something else than was asked. */
export function asking(change: (ask: Ask) => Partial<Ask>): Hooks {
  return { ask: (ask) => ({ ...ask, ...change(ask) }) };
}

/** The golden gateway that counts otherwise. */
export function usage(change: (part: Part & { type: "usage" }) => Part): Hooks {
  return { part: (part) => [part.type === "usage" ? change(part) : part] };
}

/** The golden gateway whose refusals have another body. */
export function refusalBody(change: (body: JsonObject) => JsonObject): Hooks {
  return {
    reply: (reply) =>
      reply.status === 400 ? { ...reply, body: change(reply.body) } : reply,
  };
}
