/** Rules for the message endpoint that hold whole and streamed: the blocks are the upstream's. */
import { STOPS } from "./checks_content.ts";
import {
  compareBlocks,
  compareTools,
  compareUsageDetails,
  forced,
} from "../../endpoints/compare_messages.ts";
import { count, type ReplyForm } from "../../endpoints/reply_form.ts";
import { listAt, numberAt, textAt } from "../../evidence/json_path.ts";
import {
  isObject,
  type JsonObject,
  objectOf,
  parseJson,
} from "@model-gateway/replay/json";
import {
  asLatin1,
  block,
  delta,
  event,
  opening,
} from "../../faults/change_messages.ts";
import {
  messageFrames,
  messageReply,
  withAt,
} from "../../faults/change_reply.ts";
import type { Hooks } from "../../reference_gateway/hooks.ts";
import type { Check, Misses, Rule } from "../../suite/check.ts";
import { onEvery } from "./on_every.ts";

const TOOL_BLOCK: Rule = {
  source:
    "https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use, the tool_use block",
  text: "Name and input of a tool_use block are those of the model.",
};
const FRAGMENTS: Rule = {
  source:
    "https://platform.claude.com/docs/en/build-with-claude/streaming, input JSON delta",
  text:
    "The fragments of partial_json, joined, are the input of the tool call.",
};
const UNCHANGED: Rule = {
  source:
    "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
  text:
    "Blocks keep their order; ids, thinking, signatures and redacted data reach the client unchanged, so that they can be sent back.",
};
const DETAILS: Rule = {
  source:
    "https://platform.claude.com/docs/en/api/messages, usage; .../build-with-claude/streaming, message_delta",
  text:
    "Cached input is reported separately and counted once, and a stream reports its input and its stop sequence as a whole reply does.",
};

/** Changes what a whole block and the start of a streamed one have. */
function inBlocks(
  { isStream }: ReplyForm,
  type: string,
  change: (block: JsonObject) => JsonObject,
): Hooks {
  return isStream ? opening(type, change) : block(type, change);
}

/** Changes a count of the usage, in a stream the final one. */
function counted(
  { isStream }: ReplyForm,
  name: string,
  change: (count: number) => number,
): Hooks {
  const changed = (body: JsonObject): JsonObject =>
    withAt(body, `usage.${name}`, change(numberAt(body, `usage.${name}`) ?? 0));
  return isStream ? event("message_delta", changed) : messageReply(changed);
}

function renamed(form: ReplyForm): Hooks {
  return inBlocks(form, "tool_use", (each) => ({
    ...each,
    name: `functions.${textAt(each, "name")}`,
  }));
}

const WHOLE_CALLS: Misses = {
  "second-lost": block(
    "tool_use",
    (each, index) => index === 0 ? each : undefined,
  ),
  "swapped": messageReply((body) => ({
    ...body,
    content: listAt(body, "content").toSorted((left, right) =>
      JSON.stringify(right).localeCompare(JSON.stringify(left))
    ),
  })),
  "argument-lost": block("tool_use", { input: {} }),
};

const RARE_WHOLE_CALLS: Misses = {
  "input-ascii": block("tool_use", (each) => ({
    ...each,
    input: parseJson(JSON.stringify(each["input"]).replaceAll(/[^ -~]/g, "?")),
  })),
  "third-lost": block(
    "tool_use",
    (each, index) => index < 2 ? each : undefined,
  ),
  "empty-arguments-lost": block("tool_use", (each) => ({
    ...each,
    input: Object.fromEntries(
      Object.entries(objectOf(each["input"])).filter(([, value]) =>
        value !== null && value !== "" && value !== false && value !== 0
      ),
    ),
  })),
};

function firstFragment(times: number): Hooks {
  return delta(
    "input_json_delta",
    (each, x, frame) =>
      textAt(each, "partial_json") !== "" && count(x, "args") === 0
        ? Array.from({ length: times }, () => frame)
        : each,
  );
}

const STREAMED_CALLS: Misses = {
  "fragment-lost": firstFragment(0),
  "fragment-twice": firstFragment(2),
  "second-lost": messageFrames((data, x) => {
    const tool = textAt(data, "content_block.type") === "tool_use";
    if (tool && count(x, "calls") > 0) x.state.set("lost", data["index"] ?? 0);
    return x.state.has("lost") && data["index"] !== undefined
      ? undefined
      : data;
  }),
};

const RARE_STREAMED_CALLS: Misses = {
  // UTF-8 in arguments is decoded as Latin-1.
  "fragment-latin1": delta("input_json_delta", (each) => ({
    ...each,
    partial_json: asLatin1(textAt(each, "partial_json").slice(0, 999)) +
      textAt(each, "partial_json").slice(999),
  })),
};

const isRare = (id: string): boolean => id.endsWith("-rare");

export const BLOCK_CHECKS: readonly Check[] = [
  ...onEvery({
    ids: {
      "message_reply.tools-exact": TOOL_BLOCK,
      "message_reply.tools-exact-rare": TOOL_BLOCK,
      "message_stream.tools-exact": FRAGMENTS,
      "message_stream.tools-exact-rare": FRAGMENTS,
    },
    each: () => compareTools,
    faults: (form, id) => ({
      ...(isRare(id)
        ? form.isStream ? RARE_STREAMED_CALLS : RARE_WHOLE_CALLS
        : form.isStream
        ? STREAMED_CALLS
        : WHOLE_CALLS),
      renamed: renamed(form),
    }),
  }),
  ...onEvery({
    ids: {
      "message_reply.blocks-exact": UNCHANGED,
      "message_reply.blocks-exact-rare": UNCHANGED,
      "message_stream.blocks-exact": UNCHANGED,
      "message_stream.blocks-exact-rare": UNCHANGED,
    },
    each: () => compareBlocks,
    faults: (form, id) => ({
      "id-altered": inBlocks(form, "tool_use", (each) => ({
        ...each,
        id: `${textAt(each, "id")}x`,
      })),
      ...(form.isStream ? {} : {
        "thinking-trimmed": block("thinking", (each) => ({
          ...each,
          thinking: textAt(each, "thinking").slice(0, -1),
        })),
      }),
      ...(isRare(id) ? {} : {
        "ids-same": inBlocks(form, "tool_use", (each) => ({
          ...each,
          id: "toolu_1",
        })),
        "redacted-lost": inBlocks(form, "redacted_thinking", (each) => ({
          ...each,
          data: "",
        })),
        "signature-lost": form.isStream
          ? delta("signature_delta", () => undefined)
          : block("thinking", { signature: "" }),
        ...(form.isStream ? {} : {
          reversed: messageReply((body) => ({
            ...body,
            content: listAt(body, "content").toReversed(),
          })),
        }),
      }),
    }),
  }),
  ...onEvery({
    ids: {
      "message_reply.details-exact": DETAILS,
      "message_reply.details-exact-rare": DETAILS,
      "message_stream.details-exact": DETAILS,
      "message_stream.details-exact-rare": DETAILS,
    },
    each: () => compareUsageDetails,
    faults: (form, id) =>
      isRare(id)
        ? { "cache-lost": counted(form, "cache_read_input_tokens", () => 0) }
        : {
          "input-off-by-one": counted(form, "input_tokens", (n) => n + 1),
          "sequence-null": form.isStream
            ? event(
              "message_delta",
              (data) =>
                isObject(data["delta"])
                  ? withAt(data, "delta.stop_sequence", null)
                  : data,
            )
            : form.head.put("stop_sequence", null),
        },
  }),
  ...onEvery({
    ids: {
      "message_reply.forced-stops": STOPS,
      "message_stream.forced-stops": STOPS,
    },
    mode: "both",
    reads: ({ forms }) => forms.filter((name) => name !== "text"),
    of: ({ isStream }, e) =>
      e.matching(`messages/*/${isStream ? "stream" : "whole"}/*`),
    each: () => (x, e) => forced(x, e.mode),
    faults: (form) => ({
      "limit-as-end": form.changeStop("max_tokens", "end_turn"),
      "tool-as-end": form.changeStop("tool_use", "end_turn"),
    }),
  }),
];
