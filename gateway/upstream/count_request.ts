/**
 * Writes the request of a token count as the candidate's host takes it, and reads the count.
 *
 * @module
 */
import { isObject, objectOr, parseJson } from "../../translate/bytes/json.ts";
import { encodeText, joinPieces } from "../../translate/bytes/buffers.ts";
import { spliceFields } from "../../translate/bytes/json_splice.ts";
import type { DialectName } from "../../translate/model/request.ts";
import type { BodyEdits } from "../../translate/body_edits.ts";
import {
  type ClientRequest,
  type UpstreamRequest,
  upstreamRequest,
} from "../../translate/upstream_request.ts";
import type { HostCount } from "./hosts/host.ts";
import type { Candidate } from "./catalogue/model_registry.ts";

/** Parts of a model id that the count of Vertex does not take. */
const MOVING_VERSION = /@(?:default|latest)$/;

/**
 * The fields that counts take of a whole request: declared as `MessageCountTokensParams` by
 * @anthropic-ai/sdk 1.12.0 and as `InputTokenCountParams` by openai 7.57.0.
 */
const COUNTED: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  messages: [
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "cache_control",
  ],
  generate_content: [
    "contents",
    "systemInstruction",
    "system_instruction",
    "tools",
    "generationConfig",
    "generation_config",
  ],
  responses: [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "truncation",
    "previous_response_id",
  ],
};

/**
 * The request for a candidate whose host counts.
 *
 * @throws {ApiError} `invalid_request` if the candidate's format cannot express the request
 */
export function countRequest(
  client: ClientRequest,
  candidate: Candidate,
  { wrap, refusedBetas }: HostCount,
): UpstreamRequest {
  const own = candidate.host.edits ?? {};
  const edits: BodyEdits = refusedBetas === undefined ? own : {
    ...own,
    betas: { in: "header", ...own.betas, refuses: refusedBetas },
  };
  const whole = (model: string, changed: BodyEdits): UpstreamRequest =>
    upstreamRequest(
      client,
      candidate.dialect,
      model,
      candidate.capabilities,
      "sent",
      { ...candidate.host, edits: changed },
    );
  // A client of the messages format sends a request for a count; others send a whole request.
  const isWhole = client.dialect.name !== "messages";
  const request = (model: string, changed: BodyEdits): UpstreamRequest => {
    const sent = whole(model, changed);
    return isWhole || candidate.dialect.name !== "messages"
      ? onlyCounted(sent, candidate.dialect.name)
      : sent;
  };
  switch (wrap) {
    case "none":
      return request(candidate.upstreamModel, edits);
    case "vertex":
      // Its path names no model, so the body does.
      return request(candidate.upstreamModel.replace(MOVING_VERSION, ""), {
        ...edits,
        remove: edits.remove?.filter((key) => key !== "model") ?? [],
      });
    case "gemini": {
      // Without the model inside, the vendor refuses everything but the contents.
      const inner = whole(candidate.upstreamModel, edits);
      return {
        ...inner,
        bytes: joinPieces([
          encodeText('{"generateContentRequest":'),
          spliceFields(inner.bytes, {
            model: `models/${candidate.upstreamModel}`,
          }),
          encodeText("}"),
        ]),
      };
    }
    case "bedrock": {
      const inner = whole(candidate.upstreamModel, edits);
      // A body for an invocation, which requires a limit.
      const body = !isWhole && client.body["max_tokens"] === undefined
        ? spliceFields(inner.bytes, { max_tokens: 1 })
        : inner.bytes;
      const wrapped = { input: { invokeModel: { body: body.toBase64() } } };
      return {
        ...inner,
        bytes: new TextEncoder().encode(JSON.stringify(wrapped)),
      };
    }
  }
}

/** The request without the fields that counts refuse. */
function onlyCounted(
  request: UpstreamRequest,
  dialect: DialectName,
): UpstreamRequest {
  const body = objectOr(parseJson(new TextDecoder().decode(request.bytes)));
  const fields = Object.fromEntries(
    Object.entries(body).filter(([name]) => COUNTED[dialect]?.includes(name)),
  );
  return {
    ...request,
    bytes: new TextEncoder().encode(JSON.stringify(fields)),
  };
}

/** The count in a host's reply; undefined if it is none. */
export function countOf(text: string): number | undefined {
  const reply = parseJson(text);
  if (!isObject(reply)) return undefined;
  const count = reply["input_tokens"] ?? reply["inputTokens"] ??
    reply["totalTokens"];
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0
    ? count
    : undefined;
}
