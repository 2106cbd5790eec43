/** Faults for the checks of the area `responses`: refusals, failures, and kept replies. */
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import { objectOf } from "../../../replay/json.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import { withAt } from "../../reference_gateway/change_reply.ts";
import {
  accepts,
  askedItems,
  below,
  type Faults,
  forgets,
  inFrames,
  inProblems,
  put,
  refuses,
  sent,
  without,
} from "./change.ts";
import { ONCE } from "./scenarios_state.ts";

const ONE = /^\/v1\/responses\/[^/]+$/;
const ITEMS = /\/input_items$/;

/** Changes the bodies of refusals. */
function inErrors(
  change: (error: ReturnType<typeof objectOf>) => unknown,
): Hooks {
  return {
    reply: (reply, x) =>
      x.endpoint === "responses" && reply.status >= 400
        ? {
          ...reply,
          body: {
            error: change(objectOf(reply.body["error"])),
          } as typeof reply.body,
        }
        : reply,
  };
}

/** Gives a problem without its code where it has this one. */
function uncoded(code: string): Hooks {
  return inProblems((problem) => {
    const { code: found, ...rest } = problem;
    return found === code ? rest : problem;
  });
}

/** Answers with another status where a refusal has this one. */
function status(from: number, to: number): Hooks {
  return {
    reply: (reply, x) =>
      x.endpoint === "responses" && reply.status === from
        ? { ...reply, status: to }
        : reply,
  };
}

const isAfterAnother = (body: string): boolean =>
  body.includes("previous_response_id");

/** Part of `RESPONSES_MUTANTS`. */
export const REFUSAL_FAULTS: Faults = {
  "responses-error-bare": inErrors((error) => error["message"]),
  "responses-error-no-param": inErrors(({ param: _, ...error }) => error),
  "responses-wrong-is-500": status(400, 500),
  "responses-param-input-only": inProblems((problem) => ({
    ...problem,
    ...(problem.param?.startsWith("input") ? { param: "input" } : {}),
  })),
  "responses-both-accepted": accepts(({ param }) => param === "conversation"),
  "responses-background-ignored": accepts(({ param }) =>
    param === "background"
  ),
  "responses-compaction-ignored": accepts(({ message }) =>
    message.includes("compaction_trigger")
  ),
  "responses-file-id-ignored": accepts(({ param }) =>
    param === "input[0].content[0]"
  ),
  "responses-previous-ignored": accepts(({ code }) =>
    code === "previous_response_not_found"
  ),
  "responses-reference-ignored": accepts(({ message }) =>
    message.includes("no such item")
  ),
  "responses-unknown-found": below("GET", ONE, () => ({}), 200),
  "responses-socket-404": status(426, 404),
  "responses-get-answered": status(405, 200),
  "responses-no-model-code": uncoded("model_not_found"),
  "responses-no-key-needed": {
    admit: (problem, x) => x.endpoint === "responses" ? undefined : problem,
  },
  "responses-overloaded-529": status(503, 529),
  "responses-overflow-uncoded": uncoded("context_length_exceeded"),
  "responses-no-retry-after": inProblems(({ retryAfter: _, ...problem }) =>
    problem
  ),
  "responses-failed-as-200": {
    reply: (reply, x) =>
      x.endpoint === "responses" && reply.status >= 500
        ? {
          ...reply,
          status: 200,
          body: { object: "response", status: "failed" },
        }
        : reply,
  },
  "responses-error-only": without(/^failed$/),
  "responses-failed-only": without(/^error$/),
  "responses-error-nested-only": inFrames(
    /^error$/,
    ({ type, error, sequence_number }) => ({ type, error, sequence_number }),
  ),
  "responses-cut-is-complete": {
    part: (part) =>
      part.type === "failed" ? [{ type: "stop", cause: "end" }] : [part],
  },
  "responses-partial-lost": inFrames(
    /^failed$/,
    (data) => withAt(data, "response.output", []),
  ),
  "responses-error-as-text": {
    part: (part) =>
      part.type === "failed"
        ? [{ type: "text", text: part.problem.message }, part]
        : [part],
  },
  "responses-chain-refused": refuses('"previous_response_id"'),
  "responses-previous-not-echoed": put("previous_response_id", null),
  "responses-chain-of-one": sent((body) => ({
    ...body,
    messages: listAt(body, "messages").slice(-3),
  })),
  "responses-chain-without-output": sent((body) => ({
    ...body,
    messages: listAt(body, "messages").filter((turn) =>
      at(turn, "role") !== "assistant"
    ),
  })),
  "responses-instructions-carried": sent((body, x) =>
    isAfterAnother(x.request.body) ? { ...body, system: ONCE } : body
  ),
  "responses-references-refused": refuses('"item_reference"'),
  "responses-references-dropped": askedItems((item) =>
    item["type"] === "item_reference" ? undefined : item
  ),
  "responses-read-empty": below("GET", ONE, (body) => ({
    ...body,
    output: [],
  })),
  "responses-read-404": below("GET", ONE, (body) => body, 404),
  "responses-items-empty": below("GET", ITEMS, (body) => ({
    ...body,
    data: [],
  })),
  "responses-items-without-ids": below("GET", ITEMS, (body) => ({
    ...body,
    data: listAt(body, "data").map((item) => {
      const { id: _, ...rest } = objectOf(item);
      return rest;
    }),
  })),
  "responses-delete-keeps": {
    request: (request) =>
      request.method === "DELETE"
        ? {
          ...request,
          method: "GET",
          headers: { ...request.headers, "x-was": "DELETE" },
        }
        : request,
    reply: (reply, x) =>
      x.request.headers["x-was"] === "DELETE"
        ? {
          ...reply,
          body: {
            id: textAt(reply.body, "id"),
            object: "response",
            deleted: true,
          },
        }
        : reply,
  },
  "responses-delete-bare": below("DELETE", ONE, () => ({})),
  "responses-store-always": forgets("store"),
};
