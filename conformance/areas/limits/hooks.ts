/** Changes to the reference gateway that the mutants of the area `limits` share. */
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Part, Problem } from "../../reference_gateway/part.ts";
import { problemOf } from "../../reference_gateway/problems.ts";
import type { JsonObject } from "@model-gateway/replay/json";

/** Refuses more requests. */
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

/** Repairs a body before it is validated. */
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

/** Ignores a field. */
export function overlooking(
  test: (body: JsonObject, x: Context) => boolean,
): Hooks {
  return {
    accept: (problem, body, x) =>
      problem !== undefined && test(body, x) ? undefined : problem,
  };
}

/** The body with a numeric field changed; an absent field stays absent. */
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

/** Changes the reported token counts. */
export function usage(change: (part: Part & { type: "usage" }) => Part): Hooks {
  return { part: (part) => [part.type === "usage" ? change(part) : part] };
}

/** Changes the body of refusals. */
export function refusalBody(change: (body: JsonObject) => JsonObject): Hooks {
  return {
    reply: (reply) =>
      reply.status === 400 ? { ...reply, body: change(reply.body) } : reply,
  };
}
