/** What the faults of the area `responses` are built from. */
import { changeReplies } from "../../faults/change_hooks.ts";
import { inReply } from "../../faults/change_responses.ts";
import { inBodies, inCalls } from "../../faults/change_request.ts";
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import {
  type Change,
  changed,
  type FrameChange,
  frames,
  withAt,
} from "../../faults/change_reply.ts";
import type {
  Context,
  Hooks,
  OutFrame,
} from "../../reference_gateway/hooks.ts";
import type { Problem } from "../../reference_gateway/part.ts";
import { problemOf } from "../../reference_gateway/problems.ts";

/** Changes the frames whose type matches, without `response.`; undefined removes them. */
export function inFrames(
  type: RegExp,
  change: FrameChange,
): Hooks {
  return frames(
    "responses",
    (data, x, frame) =>
      type.test(textAt(data, "type").replace("response.", ""))
        ? changed(data, change, x, frame)
        : data,
  );
}

export function without(type: RegExp): Hooks {
  return inFrames(type, () => undefined);
}

export function frameOf(data: JsonObject): OutFrame {
  return { event: textAt(data, "type"), data };
}

/** Changes the body of a request before it is read. */
export function changeResponsesRequest(change: Change): Hooks {
  return inBodies("responses", change);
}

/** Changes the items of a request; undefined removes one. */
export function changeRequestItems(
  change: (item: JsonObject) => JsonObject | undefined,
): Hooks {
  return changeResponsesRequest((body) =>
    Array.isArray(body["input"])
      ? {
        ...body,
        input: body["input"].flatMap((item: Json) => {
          const changed = change(objectOf(item));
          return changed === undefined ? [] : [changed];
        }),
      }
      : body
  );
}

export function askedTools(change: Change): Hooks {
  return changeResponsesRequest((body) => ({
    ...body,
    tools: listAt(body, "tools").map((tool) => changed(objectOf(tool), change)),
  }));
}

export function forgets(name: string): Hooks {
  return changeResponsesRequest({ [name]: undefined });
}

export function sent(change: Change<[x: Context]>): Hooks {
  return inCalls("responses", change);
}

export function refuses(text: string): Hooks {
  return {
    accept: (problem, body, x) =>
      x.endpoint === "responses" && JSON.stringify(body).includes(text)
        ? problemOf(400, "This is not possible here")
        : problem,
  };
}

/** Accepts requests that are refused with a problem that the test selects. */
export function accepts(test: (problem: Problem) => boolean): Hooks {
  return {
    accept: (problem, _, x) =>
      x.endpoint === "responses" && problem !== undefined && test(problem)
        ? undefined
        : problem,
  };
}

export function inProblems(change: (problem: Problem) => Problem): Hooks {
  return {
    problem: (problem, x) =>
      x.endpoint === "responses" ? change(problem) : problem,
  };
}

/** Changes the replies to a method at paths below the endpoint. */
export function below(
  method: string,
  path: RegExp,
  change: (body: JsonObject) => JsonObject,
  status?: number,
): Hooks {
  return {
    reply: (reply, x) =>
      x.request.method === method && path.test(x.path)
        ? {
          ...reply,
          status: status ?? reply.status,
          body: change(reply.body),
        }
        : reply,
  };
}

export const isCall = (item: Json): boolean => textAt(item, "call_id") !== "";
export const usage = (path: string, value: (usage: Json) => Json): ReturnType<
  typeof inReply
> =>
  inReply((reply) =>
    withAt(reply, `usage.${path}`, value(reply["usage"] ?? null))
  );
export const count = (value: Json, path: string): number =>
  numberAt(value, path) ?? 0;

export const END = /^(completed|incomplete|failed)$/;

/** Number of a frame's kind within its stream. */
export function nth({ state }: Context): number {
  const number = Number(state.get("nth") ?? 0);
  state.set("nth", number + 1);
  return number;
}

/** Inserts a frame behind `response.in_progress`. */
export function inserted(data: JsonObject): ReturnType<typeof inFrames> {
  return inFrames(
    /^in_progress$/,
    (before) => [frameOf(before), frameOf(data)],
  );
}

export const isInstruction = (item: Json): boolean =>
  ["system", "developer"].includes(textAt(item, "role"));

/** Removes parts of a type from the content of messages. */
export function withoutParts(type: string): Hooks {
  return changeRequestItems((item) =>
    Array.isArray(item["content"])
      ? {
        ...item,
        content: item["content"].filter((part: Json) =>
          textAt(part, "type") !== type
        ),
      }
      : item
  );
}

/** Changes the items of one type in a request; undefined removes one. */
export function askedItemsOf(
  type: string,
  change: (item: JsonObject) => JsonObject | undefined,
): Hooks {
  return changeRequestItems((item) =>
    item["type"] === type ? change(item) : item
  );
}

export function droppedHeader(value: string | undefined): Hooks {
  const change = (
    headers: Readonly<Record<string, string>>,
  ): Readonly<Record<string, string>> => {
    const { "x-gateway-dropped": _, ...rest } = headers;
    return value === undefined ? rest : { ...rest, "x-gateway-dropped": value };
  };
  return {
    reply: (reply) => ({ ...reply, headers: change(reply.headers) }),
    streamHeaders: change,
  };
}

export const FORMAT_LOST = forgets("text");
export const NO_INSTRUCTIONS = changeRequestItems((item) =>
  isInstruction(item) ? undefined : item
);

export const ONE = /^\/v1\/responses\/[^/]+$/;
export const ITEMS = /\/input_items$/;

export function inErrors(change: Change): Hooks {
  return changeReplies(
    { endpoint: "responses", least: 400 },
    (reply) => ({
      body: {
        error: changed(objectOf(reply.body["error"]), change),
      },
    }),
  );
}

/** Gives a problem without its code where it has this one. */
export function uncoded(code: string): Hooks {
  return inProblems((problem) => {
    const { code: found, ...rest } = problem;
    return found === code ? rest : problem;
  });
}

/** Answers with another status where a refusal has this one. */
export function status(from: number, to: number): Hooks {
  return changeReplies({ endpoint: "responses", status: from }, { status: to });
}

export const isAfterAnother = (body: string): boolean =>
  body.includes("previous_response_id");
