/**
 * Encodes a request for an upstream of the messages format. `encode_messages.ts` encodes the turns,
 * `encode_tools.ts` the tools and the output format, `encode_reasoning.ts` the reasoning;
 * `decode_request.ts` is the inverse.
 */
import type { Capabilities } from "../../model/capabilities.ts";
import type { EncodedRequest } from "../../dialect.ts";
import { type Drop, opening } from "../../families/messages/turns.ts";
import { withFewMarks, withoutTakenMarks } from "../../turns/cache_marks.ts";
import type { GenerationRequest } from "../../model/request.ts";
import {
  droppedFieldsOf,
  refuseEssential,
} from "../../model/dropped_fields.ts";
import { encodeSettings } from "../../model/settings_table.ts";
import { markField, MOST_MARKS } from "./cache_marks.ts";
import { encodeReasoning } from "./encode_reasoning.ts";
import { encodeTools } from "./encode_tools.ts";
import {
  arrangedTurns,
  encodeMessages,
  lacksReasoning,
} from "./encode_messages.ts";
import { SETTINGS } from "./settings.ts";
import { type Steps } from "../../steps.ts";

/** Required for system turns inside the conversation. */
const SYSTEM_TURNS_BETA = "mid-conversation-system-2026-04-07";

/**
 * Encodes a request.
 *
 * @throws {ApiError} `invalid_request` with the client's path of a field that can be neither
 * dropped nor expressed
 */
export function* encodeRequest(
  asked: GenerationRequest,
  can: Capabilities,
): Steps<EncodedRequest> {
  const { fieldNames: words } = asked;
  const wholePrompt = can.promptCaching && asked.promptCache !== "off"
    ? asked.promptCache ?? "5m"
    : undefined;
  const { request, leftOut } = withFewMarks(
    asked,
    can,
    wholePrompt === undefined ? MOST_MARKS : MOST_MARKS - 1,
    wholePrompt,
  );
  refuseEssential(request);
  const dropped = droppedFieldsOf(
    request,
    leftOut ? request.unknownFields : withoutTakenMarks(request, can),
  );
  const drop: Drop = dropped.path;
  const { turns, system: prompt, hints } = opening(
    request,
    arrangedTurns(request, can, drop),
  );
  yield;
  const system = [
    ...prompt.map((part) => ({
      type: "text",
      text: part.text,
      ...markField(part),
    })),
    ...hints.map((text) => ({ type: "text", text })),
  ];
  const tools = encodeTools(request, can, drop);
  const ceiling = can.maxOutputTokens ?? Infinity;
  const given = request.maxTokens !== undefined;
  const reasoning = encodeReasoning(
    request.reasoning,
    can,
    {
      maxTokens: Math.min(request.maxTokens ?? can.defaultMaxTokens, ceiling),
      given,
      ceiling,
    },
    !tools.forced && !(can.reasoning === "budget" && lacksReasoning(turns)),
  );
  if (reasoning.dropped) drop(words.reasoning);
  if (request.format?.type === "json") drop(words.format);
  const prefill = can.prefill && !reasoning.thinks &&
    tools.format === undefined;
  const messages = yield* encodeMessages(
    turns,
    request,
    can,
    prefill,
    drop,
  );
  const outputConfig = {
    ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
    ...(tools.format === undefined ? {} : { format: tools.format }),
  };
  return {
    body: {
      model: request.model,
      ...encodeSettings(SETTINGS, request, can, dropped, {
        thinks: reasoning.thinks,
        wholePrompt,
      }),
      max_tokens: reasoning.maxTokens,
      ...(system.length === 0 ? {} : { system }),
      messages,
      ...(tools.tools === undefined ? {} : { tools: tools.tools }),
      ...(tools.toolChoice === undefined
        ? {}
        : { tool_choice: tools.toolChoice }),
      ...(reasoning.thinking === undefined
        ? {}
        : { thinking: reasoning.thinking }),
      ...(Object.keys(outputConfig).length === 0
        ? {}
        : { output_config: outputConfig }),
      ...(request.stream ? { stream: true } : {}),
    },
    headers: turns.some((turn) => turn.role === "system")
      ? { "anthropic-beta": SYSTEM_TURNS_BETA }
      : {},
    dropped: dropped.all(),
    context: {
      toolNames: tools.toolNames,
      ...(tools.formatTool === undefined
        ? {}
        : { formatTool: tools.formatTool }),
    },
  };
}
