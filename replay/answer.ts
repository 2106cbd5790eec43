/**
 * Chooses the script that answers a request, as the vendor of its dialect would. Pure: needs no
 * permission and keeps no state.
 */
import { compact } from "./compact.ts";
import type { Fixture } from "./fixtures/fixture.ts";
import { FIXTURES } from "./fixtures/mod.ts";
import {
  type ParsedRequest,
  parseRequest,
  TURNS,
  turnsOf,
} from "./parse_request.ts";
import {
  encodeResponsesBody,
  encodeResponsesFrames,
} from "./vendors/encode_responses.ts";
import { replyIn } from "./fixtures/reply_in.ts";
import { media } from "./vendors/media.ts";
import { embeddings } from "./vendors/embeddings.ts";
import { deliver, deliverWritten } from "./deliver.ts";
import { defaultReply } from "./vendors/default_reply.ts";
import { refuse } from "./vendors/refuse.ts";
import { jsonScript, type ReplayRequest, type Script } from "./script.ts";
import {
  encodeChatBody,
  encodeChatFrames,
} from "./vendors/encode_chat_completions.ts";
import {
  encodeGenerateBody,
  encodeGenerateFrames,
} from "./vendors/encode_generate_content.ts";
import {
  encodeMessagesBody,
  encodeMessagesFrames,
} from "./vendors/encode_messages.ts";
import type { EncodableReply, NeutralReply } from "./vendors/neutral_reply.ts";
import { inputTokens } from "./vendors/token_count.ts";
import { requestFault } from "./vendors/vendor_rules.ts";

export function answer(request: ReplayRequest): Script {
  return answerCall(parseRequest(request));
}

/** Like `answer`, for a request that is already parsed. */
export function answerCall(call: ParsedRequest): Script {
  switch (call.operation) {
    case "unknown":
      return refuse(
        call,
        404,
        `Not found: ${call.request.method} ${call.request.path.split("?")[0]}`,
      );
    case "models":
      return models(call);
    case "embed":
      return embed(call);
    case "media":
      return errorOf(call) ?? media(call);
    case "count_tokens":
      return checked(call, () => countTokens(call));
    case "generate":
      return checked(call, () => refusal(call) ?? generate(call));
  }
}

function checked(call: ParsedRequest, reply: () => Script): Script {
  const { body, dialect } = call;
  if (body === undefined) {
    return refuse(
      call,
      400,
      "We could not parse the JSON body of your request.",
    );
  }
  if (call.model === "") return refuse(call, 400, "model: Field required");
  if (turnsOf(dialect, body).length === 0) {
    return refuse(call, 400, `${TURNS[dialect]}: Field required`);
  }
  return reply();
}

/** The error for an invalid request, or for a model that the marker declares unknown. */
function refusal(call: ParsedRequest): Script | undefined {
  const { "no-model": missing, "nor-model": either } = call.marker?.params ??
    {};
  if (call.model === missing || call.model === either) return refuse(call, 404);
  const fault = requestFault(call);
  return fault === undefined
    ? undefined
    : refuse(call, 400, `${fault.param}: ${fault.why}`, fault.param);
}

function generate(call: ParsedRequest): Script {
  const { marker } = call;
  if (marker === undefined) {
    return deliver(call, encode(call, defaultReply(call)), {});
  }
  const fixture = FIXTURES.get(marker.name);
  if (fixture === undefined) {
    return refuse(call, 400, `No fixture is named "${marker.name}"`);
  }
  return scriptOf(fixture, call, marker.params);
}

function scriptOf(
  fixture: Fixture,
  call: ParsedRequest,
  params: Readonly<Record<string, string>>,
): Script {
  if ("script" in fixture) return fixture.script(call, params);
  return deliverWritten(
    call,
    replyIn(fixture, call.dialect, call.body),
    params,
  );
}

/** Script for a generation call that is answered with this reply, in the dialect of the call. */
export function replyScript(
  request: ReplayRequest,
  reply: NeutralReply,
): Script {
  const call = parseRequest(request);
  return deliver(call, encode(call, reply), {});
}

/** Encodes a reply, only in the form that the request asks for. */
function encode(
  call: ParsedRequest,
  reply: NeutralReply,
): { readonly stream: readonly string[]; readonly whole: string } {
  const encodable: EncodableReply = {
    reply,
    model: call.model,
    usageAsked: call.usageAsked,
    ...compact({ asked: call.body }),
    seed: call.request.path + call.request.body,
  };
  const [frames, whole] = ENCODERS[call.dialect];
  return call.streamed
    ? { stream: frames(encodable), whole: "" }
    : { stream: [], whole: whole(encodable) };
}

type Encoders = readonly [
  (encodable: EncodableReply) => readonly string[],
  (encodable: EncodableReply) => string,
];

const ENCODERS: Readonly<Record<ParsedRequest["dialect"], Encoders>> = {
  messages: [encodeMessagesFrames, encodeMessagesBody],
  chat_completions: [encodeChatFrames, encodeChatBody],
  generate_content: [encodeGenerateFrames, encodeGenerateBody],
  responses: [encodeResponsesFrames, encodeResponsesBody],
};

function embed(call: ParsedRequest): Script {
  if (call.body === undefined) {
    return refuse(
      call,
      400,
      "We could not parse the JSON body of your request.",
    );
  }
  if (call.model === "") return refuse(call, 400, "model: Field required");
  return errorOf(call) ?? embeddings(call);
}

/** The error of the fixture that the marker names; undefined for a fixture with a reply. */
function errorOf(call: ParsedRequest): Script | undefined {
  const fixture = FIXTURES.get(call.marker?.name ?? "");
  if (fixture === undefined || !("script" in fixture)) return undefined;
  const script = fixture.script(call, call.marker?.params ?? {});
  return script.status === 200 ? undefined : script;
}

function countTokens(call: ParsedRequest): Script {
  const error = errorOf(call);
  if (error !== undefined) return error;
  const tokens = inputTokens(call);
  return jsonScript(
    200,
    call.dialect === "messages"
      ? { input_tokens: tokens }
      : { totalTokens: tokens },
  );
}

const MODEL_IDS: readonly string[] = [
  "claude-opus-4-8",
  "claude-fable-5",
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
  "gpt-5.5",
  "gpt-5",
  "gemini-3-pro",
  "gemini-3-flash",
  "MiniMax-M3",
];

function models(call: ParsedRequest): Script {
  switch (call.dialect) {
    case "messages":
      return jsonScript(200, {
        data: MODEL_IDS.map((id) => ({
          type: "model",
          id,
          display_name: id,
          created_at: "2026-01-01T00:00:00Z",
        })),
        has_more: false,
        first_id: MODEL_IDS.at(0),
        last_id: MODEL_IDS.at(-1),
      });
    case "chat_completions":
    case "responses":
      return jsonScript(200, {
        object: "list",
        data: MODEL_IDS.map((id) => ({
          id,
          object: "model",
          created: 1_780_000_000,
          owned_by: "replay",
        })),
      });
    case "generate_content":
      return jsonScript(200, {
        models: MODEL_IDS.map((id) => ({
          name: `models/${id}`,
          displayName: id,
          inputTokenLimit: 1_048_576,
          outputTokenLimit: 65_536,
          supportedGenerationMethods: ["generateContent", "countTokens"],
        })),
      });
  }
}
