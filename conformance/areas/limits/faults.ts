/** What the faults of the area `limits` are built from, and those that several checks have. */
import { changeReplies } from "../../faults/change_hooks.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import type { Context, Hooks } from "../../reference_gateway/hooks.ts";
import type { Part, Problem } from "../../reference_gateway/part.ts";
import { problemOf } from "../../reference_gateway/problems.ts";

type Test = (body: JsonObject, x: Context) => boolean;

export function breaks(test: Test): Hooks {
  return {
    accept: (problem, body, x) =>
      test(body, x) ? problemOf(500, "failed") : problem,
  };
}

export function turnsIn(body: JsonObject): readonly JsonObject[] {
  return arrayOf(body["messages"]).map(objectOf);
}

export function blocksIn(body: JsonObject): readonly JsonObject[] {
  return turnsIn(body).flatMap(({ content }) => arrayOf(content).map(objectOf));
}

export function hasType(...types: readonly Json[]): Test {
  return (body) =>
    blocksIn(body).some(({ type = null }) => types.includes(type));
}

export function isStreamed(body: JsonObject): boolean {
  return body["stream"] === true;
}

export function has(name: string): Test {
  return (body) => body[name] !== undefined;
}

/** Truncates streams whose request satisfies the test. */
export function endless(test: (body: JsonObject) => boolean): Hooks {
  const isEnd = (data: Json | undefined): boolean =>
    objectOf(data)["type"] === "message_stop";
  return {
    frame: (frame, x) => {
      const body = objectOf(JSON.parse(x.request.body));
      const end = frame.data === "[DONE]" ||
        (typeof frame.data !== "string" && isEnd(frame.data));
      return end && test(body) ? [] : [frame];
    },
  };
}

export function refuseParam(
  param: string,
  test: (body: JsonObject, x: Context) => boolean,
): Hooks {
  return {
    accept: (problem, body, x) =>
      test(body, x) ? invalid(param, `${param}: not possible`) : problem,
  };
}

function invalid(param: string, message: string): Problem {
  return { ...problemOf(400, message), param };
}

export function changeBody(
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

export function acceptWhere(
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

export function usage(change: (part: Part & { type: "usage" }) => Part): Hooks {
  return { part: (part) => [part.type === "usage" ? change(part) : part] };
}

export function refusalBody(change: (body: JsonObject) => JsonObject): Hooks {
  return changeReplies(
    { status: 400 },
    (reply) => ({ body: change(reply.body) }),
  );
}
