/** Builders of faults in replies and streams of the generate-content format. */
import { changeReplies } from "../faults/change_hooks.ts";
import { listAt } from "../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import { frames } from "./change_reply.ts";
import type { Context, Hooks } from "../reference_gateway/hooks.ts";
import { problemOf } from "../reference_gateway/problems.ts";

type Change = (object: JsonObject, x: Context) => JsonObject;

/** Where a fault is: in whole replies, in streams of both forms, or everywhere. */
type Where = "whole" | "streams" | "everywhere";

/** Changes whole replies, and every object of a stream. */
export function inObjects(change: Change, where: Where = "everywhere"): Hooks {
  const isReply = (body: JsonObject): boolean => body["error"] === undefined;
  return {
    ...(where === "streams" ? {} : changeReplies({
      endpoint: "generate_content",
      does: "generate",
      status: 200,
    }, (reply, x) => ({ body: change(reply.body, x) }))),
    ...(where === "whole" ? {} : frames(
      "generate_content",
      (data, x) => isReply(data) ? change(data, x) : data,
    )),
  };
}

/** Changes the first candidate of each object that has one. */
export function inCandidates(change: Change, where?: Where): Hooks {
  return inObjects((object, x) => ({
    ...object,
    ...(object["candidates"] === undefined ? {} : {
      candidates: listAt(object, "candidates").map((each) =>
        change(objectOf(each), x)
      ),
    }),
  }), where);
}

/** Changes the parts of a reply; undefined removes one. */
export function inParts(
  change: (part: JsonObject, x: Context) => JsonObject | undefined,
  where?: Where,
): Hooks {
  return inCandidates((candidate, x) =>
    isObject(candidate["content"])
      ? {
        ...candidate,
        content: {
          ...candidate["content"],
          parts: listAt(candidate, "content.parts").flatMap((part): Json[] => {
            const changed = change(objectOf(part), x);
            return changed === undefined ? [] : [changed];
          }),
        },
      }
      : candidate, where);
}

/** Changes the parts with a call; undefined removes one. */
export function inCalls(
  change: (call: JsonObject, x: Context) => JsonObject | undefined,
): Hooks {
  return inParts((part, x) => {
    if (part["functionCall"] === undefined) return part;
    const call = change(objectOf(part["functionCall"]), x);
    return call === undefined ? undefined : { ...part, functionCall: call };
  });
}

/** Changes the token counts wherever they are reported. */
export function inUsage(
  change: (usage: JsonObject) => JsonObject,
  where?: Where,
): Hooks {
  return inObjects(
    (object) =>
      isObject(object["usageMetadata"])
        ? { ...object, usageMetadata: change(object["usageMetadata"]) }
        : object,
    where,
  );
}

/** Changes the list of models, or one model. */
export function inList(change: (body: JsonObject) => JsonObject): Hooks {
  return changeReplies({
    endpoint: "generate_content",
    does: "list",
    status: 200,
  }, (reply) => ({ body: change(reply.body) }));
}

/** Changes each model of the list, and one that is asked for alone. */
export function inModels(change: (model: JsonObject) => JsonObject): Hooks {
  return inList((body) =>
    body["models"] === undefined ? change(body) : {
      ...body,
      models: listAt(body, "models").map((each) => change(objectOf(each))),
    }
  );
}

/** Changes the member `error` of every refusal, and of a stream that failed. */
export function inErrors(
  change: (error: JsonObject) => Json | undefined,
): Hooks {
  const changed = (body: JsonObject): JsonObject =>
    isObject(body["error"]) ? { ...body, error: change(body["error"]) } : body;
  return {
    reply: (reply, x) =>
      x.endpoint === "generate_content" && reply.status >= 400
        ? { ...reply, body: changed(reply.body) }
        : reply,
    ...frames("generate_content", changed),
  };
}

/** Answers refusals of one status with another. */
export function status(from: number, to: number): Hooks {
  return changeReplies({ endpoint: "generate_content", status: from }, {
    status: to,
  });
}

/** Changes a request before it is read. */
export function asked(change: (body: JsonObject) => JsonObject): Hooks {
  return {
    request: (request, x) => {
      const body = parseJson(request.body);
      return x.endpoint === "generate_content" && isObject(body)
        ? { ...request, body: JSON.stringify(change(body)) }
        : request;
    },
  };
}

export function sent(
  change: (body: JsonObject, x: Context) => JsonObject,
): Hooks {
  return {
    upstream: (call, x) =>
      x.endpoint === "generate_content"
        ? { ...call, body: change(call.body, x) }
        : call,
  };
}

/** Refuses requests that the test selects. */
export function refuses(test: (x: Context) => boolean): Hooks {
  return {
    admit: (problem, x) =>
      x.endpoint === "generate_content" && test(x)
        ? problemOf(400, "This is not possible here")
        : problem,
  };
}
