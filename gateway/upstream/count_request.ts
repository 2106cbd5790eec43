/**
 * Writes the request of a token count as the candidate's host takes it, and reads the count.
 */
import { isObject, parseJson } from "../../translate/bytes/json.ts";
import { encodeText, joinPieces } from "../../translate/bytes/buffers.ts";
import { spliceFields } from "../../translate/bytes/json_splice.ts";
import type { DialectName } from "../../translate/model/request.ts";
import type { BodyEdits } from "../../translate/body_edits.ts";
import type {
  ClientRequest,
  UpstreamRequest,
} from "../../translate/upstream_request.ts";
import type { HostCount } from "./hosts/host.ts";
import type { Candidate } from "./catalogue/model_registry.ts";
import { written } from "./prepare_request.ts";

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
 * The request for a candidate whose host counts; a large one is written in turns of the event loop.
 *
 * @throws {ApiError} `invalid_request` if the candidate's format cannot express the request
 */
export async function countRequest(
  client: ClientRequest,
  candidate: Candidate,
  { wrap, refusedBetas }: HostCount,
): Promise<UpstreamRequest> {
  const own = candidate.host.edits ?? {};
  const edits: BodyEdits = refusedBetas === undefined ? own : {
    ...own,
    betas: { in: "header", ...own.betas, refuses: refusedBetas },
  };
  const whole = (
    model: string,
    changed: BodyEdits,
    only?: readonly string[],
  ): UpstreamRequest | Promise<UpstreamRequest> =>
    written(
      client,
      {
        ...candidate,
        upstreamModel: model,
        host: { ...candidate.host, edits: changed },
      },
      "sent",
      only,
    );
  // A client of the messages format sends a request for a count; others send a whole request.
  const isWhole = client.dialect.name !== "messages";
  const counted = isWhole || candidate.dialect.name !== "messages"
    ? COUNTED[candidate.dialect.name]
    : undefined;
  switch (wrap) {
    case "none":
      return await whole(candidate.upstreamModel, edits, counted);
    case "vertex":
      // Its path names no model, so the body does.
      return await whole(
        candidate.upstreamModel.replace(MOVING_VERSION, ""),
        {
          ...edits,
          remove: edits.remove?.filter((key) => key !== "model") ?? [],
        },
        counted,
      );
    case "gemini": {
      // If the inner request names no model, the vendor accepts nothing but the contents.
      const inner = await whole(candidate.upstreamModel, {
        ...edits,
        remove: [...edits.remove ?? [], "model"],
      });
      const model = JSON.stringify(`models/${candidate.upstreamModel}`);
      return {
        ...inner,
        bytes: joinPieces([
          encodeText(`{"generateContentRequest":{"model":${model},`),
          // The prompt is never absent: the comma is followed by a field.
          inner.bytes.subarray(inner.bytes.indexOf(OPEN_BRACE) + 1),
          encodeText("}"),
        ]),
      };
    }
    case "bedrock": {
      const inner = await whole(candidate.upstreamModel, edits);
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

const OPEN_BRACE = 0x7b;

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
