/** Checks of the area `models`: listed models answer, and others are refused. */
import { changeReplies } from "../../faults/change_hooks.ts";
import {
  factOf,
  type Finding,
  NotTestable,
  some,
  statusIs,
  valueAt,
} from "../../suite/finding.ts";
import { dialectOf } from "../../reference_gateway/models.ts";
import { LISTED, ofVendor, put, renamed, unserved } from "./faults.ts";
import { type Check, checksWith, sharedFaults } from "../../suite/check.ts";
import { shapeFault } from "../../evidence/documented_shape.ts";
import { type Exchange, isStream } from "../../evidence/exchange.ts";
import { textAt } from "../../evidence/json_path.ts";
import type { Generation } from "../../suite/requests.ts";
import type { Evidence } from "../../suite/evidence.ts";
import { unbilled } from "../limits/unbilled.ts";

export const SERVICE = "What the service does";

/** The exchanges with unlisted ids; fails when the listed id is not served. */
export function unlisted(e: Evidence): readonly Exchange[] {
  e.replies("*/*/control");
  return e.exchanges.filter(({ label }) => !label.endsWith("/control"));
}

/** The exchanges with the listed models on an endpoint. */
function calledOn(e: Evidence, endpoint: Generation): Exchange[] {
  const called = e.exchanges.filter((x) => x.endpoint === endpoint);
  if (called.length > 0) return called;
  throw new NotTestable(`no listed model was called on ${endpoint}`);
}

/**
 * The replies of all listed models have the endpoint's format, whichever vendor answered. Other
 * checks judge whether each model answers.
 */
function inFormat(e: Evidence, endpoint: Generation): Finding[] {
  return some(
    calledOn(e, endpoint).filter(({ head }) => head?.status === 200).map(
      (x) => {
        const fault = shapeFault(x);
        return factOf("documented members", fault ?? "all", x).mustBe(
          "all present",
          fault === undefined,
        );
      },
    ),
    "a success of a listed model",
  );
}

/** Finding that a listed model answers, with a reply or a stream. */
function served(x: Exchange): Finding {
  const good = x.head?.status === 200 &&
    (x.label.endsWith("/stream")
      ? isStream(x) && x.frames.length > 0
      : textAt(x.json, "model") !== "");
  return factOf(
    "reply of a listed model",
    `${x.head?.status ?? x.ending}: ${x.text.slice(0, 160)}`,
    x,
  ).mustBe("200", good);
}

export const SERVED_CHECKS: readonly Check[] = checksWith({
  section: SERVICE,
  mode: "both",
  reads: ["listed-models"],
  of: unlisted,
}, [
  {
    id: "models.listed-are-served",
    rule: "Both endpoints accept the same set of model ids",
    judge: (e) => calledOn(e, "messages").map(served),
    faults: {
      "models-list-more": unserved(({ model }) => model === "vendord-m3"),
      "vendorb-not-on-messages": unserved(({ endpoint, model }) =>
        endpoint === "messages" && model.startsWith("vendorb")
      ),
      "streams-for-one": unserved(({ stream, model }) =>
        stream && model === "vendora-haiku-4-5"
      ),
    },
  },
  {
    id: "models.listed-on-chat",
    rule:
      "The chat-completion endpoint accepts every id returned by `GET /v1/models`.",
    judge: (e) => calledOn(e, "chat").map(served),
    faults: {
      "vendora-not-on-chat": unserved(({ endpoint, model }) =>
        endpoint === "chat" && model.startsWith("vendora")
      ),
      ...sharedFaults("models-list-more"),
    },
  },
  {
    id: "models.all-in-message-format",
    rule: "`POST /v1/messages` uses the message format.",
    judge: (e) => inFormat(e, "messages"),
    faults: {
      "one-model-without-usage": ofVendor(
        "generate_content",
        put(
          undefined,
          "usage.prompt_tokens",
          "message.usage.input_tokens",
          "usage.input_tokens",
        ),
      ),
      "one-model-with-its-own-id": ofVendor(
        "messages",
        put("gen-17", "message.id", "id"),
      ),
      "one-model-with-its-own-stop": ofVendor(
        "chat_completions",
        put(
          undefined,
          "stop_reason",
          "delta.stop_reason",
          "choices.0.finish_reason",
        ),
      ),
      "one-model-streams-without-end": {
        frame: (frame, { via }) =>
          via === "messages" &&
            (frame.data === "[DONE]" || frame.event === "message_stop")
            ? []
            : [frame],
      },
    },
  },
  {
    id: "models.all-in-chat-format",
    rule: "`POST /v1/chat/completions` uses the chat-completion format.",
    judge: (e) => inFormat(e, "chat"),
    faults: sharedFaults(
      "one-model-without-usage",
      "one-model-with-its-own-id",
      "one-model-with-its-own-stop",
      "one-model-streams-without-end",
    ),
  },
  {
    id: "models.unlisted-refused",
    rule: "An id absent from the list cannot be called with that key.",
    reads: ["unlisted-models"],
    each: (x) => statusIs(x, 400, 403, 404),
    faults: {
      "unknown-model-falls-back": renamed((model) =>
        dialectOf(model) === undefined ? LISTED : model
      ),
      "model-id-trimmed": renamed((model) => model.trim()),
      "model-id-any-case": renamed((model) => model.toLowerCase()),
      "model-id-by-prefix": renamed((model) =>
        model.startsWith(LISTED) ? LISTED : model
      ),
      "model-id-vendor-dropped": renamed((model) =>
        model.split("/").at(-1) ?? model
      ),
    },
  },
  {
    id: "models.exactly-as-listed",
    section: "POST /v1/messages (operation `createMessage`)",
    rule: "One of the model ids; exactly as listed by `/v1/models`",
    reads: ["unlisted-models"],
    judge: (e) =>
      unlisted(e).filter(({ endpoint }) => endpoint === "messages").map((x) =>
        statusIs(x, 400, 403, 404)
      ),
    faults: sharedFaults("model-id-trimmed", "model-id-any-case"),
  },
  {
    id: "models.unlisted-error",
    source: "Both formats' libraries read `error.message`",
    rule:
      "The refusal of an unlisted model is a JSON error with a message, also for a stream request.",
    reads: ["unlisted-models"],
    each: (x) => [
      valueAt(x, "error.message").mustBe(
        "a string that is not empty",
        (value) => typeof value === "string" && value !== "",
      ),
      factOf("reply", x.text.slice(0, 80)).mustBe(
        "no event stream",
        !isStream(x) && x.frames.length === 0,
      ),
    ],
    faults: {
      "unlisted-error-empty": changeReplies({ status: 404 }, {
        body: { error: {} },
      }),
      "unlisted-error-as-stream": changeReplies({ status: 404, stream: true }, {
        headers: { "content-type": "text/event-stream" },
      }),
    },
  },
  {
    id: "models.unlisted-no-call",
    rule: "An id absent from the list cannot be called with that key.",
    mode: "replay",
    reads: ["unlisted-models"],
    each: unbilled,
    faults: {
      "unlisted-refused-after-call": {
        modelRequest: (modelRequest, { state }) => {
          if (dialectOf(modelRequest.model) !== undefined) return modelRequest;
          state.set("unlisted", true);
          return { ...modelRequest, model: LISTED, stream: false };
        },
        reply: (reply, { state }) =>
          state.get("unlisted") === true
            ? {
              ...reply,
              status: 404,
              body: {
                type: "error",
                error: { type: "not_found_error", message: "no such model" },
              },
            }
            : reply,
      },
      ...sharedFaults("unknown-model-falls-back"),
    },
  },
]);
