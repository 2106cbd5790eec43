/**
 * Encodes a reply as generativelanguage.googleapis.com does: CRLF, usage in every frame, whole tool
 * calls.
 */
import { foldGenerateContent } from "./fold_stream.ts";
import type { JsonObject } from "../json.ts";
import {
  type EncodableReply,
  type NeutralReply,
  spacedJson,
} from "./neutral_reply.ts";
import { letters, seededRandom } from "./seeded.ts";

const FINISH_REASONS: Readonly<Record<NeutralReply["stop"], string>> = {
  end: "STOP",
  max_tokens: "MAX_TOKENS",
  stop_sequence: "STOP",
  tool_use: "STOP",
  refusal: "SAFETY",
  pause: "STOP",
  context_window: "MAX_TOKENS",
  other: "SOME_NEW_REASON",
};

/** The vendor sends several tokens per frame. */
const PIECES_PER_FRAME = 3;

/** Frames of a streamed reply with `alt=sse`. */
export function encodeGenerateFrames(encodable: EncodableReply): string[] {
  return chunks(encodable).map((chunk) =>
    `data: ${spacedJson(chunk, ",")}\r\n\r\n`
  );
}

/** The same stream without `alt=sse`: one JSON array, in the pieces that the vendor writes. */
export function toArrayFrames(frames: readonly string[]): string[] {
  const objects = frames.map((frame) =>
    frame.replace(/^data: ?/, "").trimEnd()
  );
  return [
    ...objects.map((object, at) => (at === 0 ? "[" : "\n,\r\n") + object),
    "\n]",
  ];
}

export function encodeGenerateBody(encodable: EncodableReply): string {
  return JSON.stringify(foldGenerateContent(chunks(encodable)), null, 2) + "\n";
}

function chunks({ reply, model, seed }: EncodableReply): JsonObject[] {
  const seeded = seededRandom(seed);
  const responseId = letters(seeded, 23);
  const parts = signed(reply.blocks.flatMap(streamedParts), reply);
  const visible = reply.usage.output - reply.usage.reasoning;
  const last = parts.pop() ?? { text: "" };
  const chunk = (
    part: JsonObject,
    candidates: number,
    finish: JsonObject,
  ): JsonObject => ({
    candidates: [{
      content: { parts: [part], role: "model" },
      ...finish,
      index: 0,
    }],
    usageMetadata: geminiUsage(reply, candidates),
    modelVersion: model,
    responseId,
  });
  return [
    ...parts.map((part, at) =>
      chunk(part, Math.floor((visible * (at + 1)) / (parts.length + 1)), {})
    ),
    chunk(last, visible, { finishReason: FINISH_REASONS[reply.stop] }),
  ];
}

function streamedParts(block: NeutralReply["blocks"][number]): JsonObject[] {
  if (block.kind === "tool") return [callPart(block.name, block.args)];
  const parts: JsonObject[] = [];
  for (let at = 0; at < block.pieces.length; at += PIECES_PER_FRAME) {
    const text = block.pieces.slice(at, at + PIECES_PER_FRAME).join("");
    parts.push(block.kind === "thinking" ? { text, thought: true } : { text });
  }
  return parts;
}

function callPart(name: string, args: JsonObject): JsonObject {
  return { functionCall: { name, args } };
}

/**
 * Adds the thought signature to the first function call, or to the last part when there is none.
 */
function signed(
  parts: readonly JsonObject[],
  reply: NeutralReply,
): JsonObject[] {
  const thinking = reply.blocks.find((block) => block.kind === "thinking");
  if (thinking === undefined) return [...parts];
  const firstCall = parts.findIndex((part) => "functionCall" in part);
  const at = firstCall === -1 ? parts.length - 1 : firstCall;
  return parts.map((part, index) =>
    index === at ? { ...part, thoughtSignature: thinking.signature } : part
  );
}

function geminiUsage({ usage }: NeutralReply, candidates: number): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    promptTokenCount: prompt,
    ...(candidates === 0 ? {} : { candidatesTokenCount: candidates }),
    totalTokenCount: prompt + candidates + usage.reasoning,
    ...(usage.cacheRead === 0
      ? {}
      : { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
    serviceTier: "standard",
  };
}
