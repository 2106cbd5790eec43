/** Builders of faults in replies and streams of the generate-content format. */
import { changeReplies } from "../faults/change_hooks.ts";
import { listAt } from "../evidence/json_path.ts";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { type Change, changed, frames } from "./change_reply.ts";
import { inBodies, inCalls as inCallsOf } from "./change_request.ts";
import type { Context, Hooks } from "../reference_gateway/hooks.ts";
import { problemOf } from "../reference_gateway/problems.ts";

type Changed = Change<[x: Context]>;

/** Where a fault is: in whole replies, in streams of both forms, or everywhere. */
type Where = "whole" | "streams" | "everywhere";

/** Changes whole replies, and every object of a stream. */
export function inObjects(change: Changed, where: Where = "everywhere"): Hooks {
  const isReply = (body: JsonObject): boolean => body["error"] === undefined;
  return {
    ...(where === "streams" ? {} : changeReplies({
      endpoint: "generate_content",
      does: "generate",
      status: 200,
    }, (reply, x) => ({ body: changed(reply.body, change, x) }))),
    ...(where === "whole" ? {} : frames(
      "generate_content",
      (data, x) => isReply(data) ? changed(data, change, x) : data,
    )),
  };
}

/** Changes the first candidate of each object that has one. */
export function inCandidates(change: Changed, where?: Where): Hooks {
  return inObjects((object, x) => ({
    ...object,
    ...(object["candidates"] === undefined ? {} : {
      candidates: listAt(object, "candidates").map((each) =>
        changed(objectOf(each), change, x)
      ),
    }),
  }), where);
}

/** Changes the parts of a reply; undefined removes one. */
export function inParts(
  change: Change<[x: Context], JsonObject | undefined>,
  where?: Where,
): Hooks {
  return inCandidates((candidate, x) =>
    isObject(candidate["content"])
      ? {
        ...candidate,
        content: {
          ...candidate["content"],
          parts: listAt(candidate, "content.parts").flatMap((part): Json[] => {
            const other = changed(objectOf(part), change, x);
            return other === undefined ? [] : [other];
          }),
        },
      }
      : candidate, where);
}

/** Changes the parts with a call; undefined removes one. */
export function inCalls(
  change: Change<[x: Context], JsonObject | undefined>,
): Hooks {
  return inParts((part, x) => {
    if (part["functionCall"] === undefined) return part;
    const call = changed(objectOf(part["functionCall"]), change, x);
    return call === undefined ? undefined : { ...part, functionCall: call };
  });
}

/** Changes the token counts wherever they are reported. */
export function inUsage(
  change: Change,
  where?: Where,
): Hooks {
  return inObjects(
    (object) =>
      isObject(object["usageMetadata"])
        ? { ...object, usageMetadata: changed(object["usageMetadata"], change) }
        : object,
    where,
  );
}

export function inList(change: Change): Hooks {
  return changeReplies({
    endpoint: "generate_content",
    does: "list",
    status: 200,
  }, (reply) => ({ body: changed(reply.body, change) }));
}

/** Changes each model of the list, and one that is asked for alone. */
export function inModels(change: Change): Hooks {
  return inList((body) =>
    body["models"] === undefined ? changed(body, change) : {
      ...body,
      models: listAt(body, "models").map((each) =>
        changed(objectOf(each), change)
      ),
    }
  );
}

/** Changes the member `error` of every refusal, and of a stream that failed. */
export function inErrors(
  change: Change<[], Json | undefined>,
): Hooks {
  const to = (body: JsonObject): JsonObject =>
    isObject(body["error"])
      ? { ...body, error: changed(body["error"], change) }
      : body;
  return {
    ...changeReplies(
      { endpoint: "generate_content", least: 400 },
      ({ body }) => ({ body: to(body) }),
    ),
    ...frames("generate_content", to),
  };
}

/** Answers refusals of one status with another. */
export function status(from: number, to: number): Hooks {
  return changeReplies({ endpoint: "generate_content", status: from }, {
    status: to,
  });
}

/** Changes a request before it is read. */
export function changeContentRequest(change: Change): Hooks {
  return inBodies("generate_content", change);
}

export function sent(change: Change<[x: Context]>): Hooks {
  return inCallsOf("generate_content", change);
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
