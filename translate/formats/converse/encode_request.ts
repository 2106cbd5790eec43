/**
 * Encodes a request for an upstream of the Converse format. The model id and the choice of streaming are in the address.
 * `encode_messages.ts` encodes the turns, `encode_tools.ts` the tools and the output format, `encode_config.ts` the settings.
 *
 * @module
 */
import type { EncodedRequest } from "../../dialect.ts";
import type { Capabilities } from "../../model/capabilities.ts";
import { invalidField } from "../../model/error.ts";
import type { GenerationRequest } from "../../model/request.ts";
import { withoutTakenMarks } from "../../model/cache_marks.ts";
import { cachePoint } from "./cache_marks.ts";
import { encodeConfig } from "./encode_config.ts";
import { arrangedTurns, encodeMessages } from "./encode_messages.ts";
import { type Drop, encodeTools } from "./encode_tools.ts";

const JSON_HINT =
  "Reply with one JSON object only: no other text, no code fence.";

/**
 * Encodes a request.
 *
 * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
 * dropped nor expressed
 */
export function encodeRequest(
  request: GenerationRequest,
  can: Capabilities,
): EncodedRequest {
  const { fieldNames: words, candidates = 1 } = request;
  const [essential] = request.essential;
  if (essential !== undefined) {
    throw invalidField(essential, "is not available with this model");
  }
  if (candidates > 1) {
    throw invalidField(
      words.candidates,
      "this model gives one answer at a time",
    );
  }
  const losses = new Set<string>(withoutTakenMarks(request, can));
  const drop: Drop = (path) => void losses.add(path);
  if (request.promptCache !== undefined) drop(words.promptCache);
  const system = request.system.filter(({ text }) => text.trim() !== "");
  const given = arrangedTurns(request, drop);
  const isAlone = given.length === 0;
  if (isAlone && system.length === 0) {
    throw invalidField(words.messages, "holds nothing to answer");
  }
  // The format requires a turn, so a lone system prompt becomes a user turn.
  const turns = isAlone ? [{ role: "user" as const, parts: system }] : given;
  const tools = encodeTools(request, can, drop);
  const isJson = request.format?.type === "json";
  if (isJson) drop(words.format);
  const systemBlocks = [
    ...(isAlone ? [] : system.flatMap((
      part,
    ) => [
      { text: part.text },
      ...cachePoint(part, "system", request, can, drop),
    ])),
    ...(isJson ? [{ text: JSON_HINT }] : []),
  ];
  return {
    body: {
      ...(systemBlocks.length === 0 ? {} : { system: systemBlocks }),
      messages: encodeMessages(turns, request, can, drop),
      ...(tools.toolConfig === undefined
        ? {}
        : { toolConfig: tools.toolConfig }),
      ...encodeConfig(request, can, drop),
    },
    headers: {},
    dropped: [...losses],
    context: {
      toolNames: tools.toolNames,
      ...(tools.formatTool === undefined
        ? {}
        : { formatTool: tools.formatTool }),
    },
  };
}
