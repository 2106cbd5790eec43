/** Puts a reply on the wire as generativelanguage.googleapis.com does: CRLF, usage in every frame, tool calls whole. */
import { type Said, spacedJson, type Speech } from "./said.ts";
import { letters, seededBy } from "./seeded.ts";

const FINISH_REASONS: Readonly<Record<Said["stop"], string>> = {
  end: "STOP",
  max_tokens: "MAX_TOKENS",
  stop_sequence: "STOP",
  tool_use: "STOP",
  refusal: "SAFETY",
  pause: "STOP",
  context_window: "MAX_TOKENS",
  other: "SOME_NEW_REASON",
};

/** A vendor's frame holds several tokens; this many pieces go into one. */
const PIECES_PER_FRAME = 3;

/** The frames of a streamed reply, as event-stream frames. */
export function geminiFrames(speech: Speech): string[] {
  return chunks(speech).map((chunk) =>
    `data: ${spacedJson(chunk, ",")}\r\n\r\n`
  );
}

/** The same stream as one JSON array, in the pieces that the vendor writes. */
export function arrayFrames(frames: readonly string[]): string[] {
  const objects = frames.map((frame) =>
    frame.replace(/^data: ?/, "").trimEnd()
  );
  return [
    ...objects.map((object, at) => (at === 0 ? "[" : "\n,\r\n") + object),
    "\n]",
  ];
}

/** The body of a whole reply. */
export function geminiWhole({ said, model, seed }: Speech): string {
  const seeded = seededBy(seed);
  const parts = said.blocks.flatMap((block): object[] => {
    if (block.kind === "tool") return [callPart(block.name, block.args)];
    const text = block.pieces.join("");
    return [block.kind === "thinking" ? { text, thought: true } : { text }];
  });
  return JSON.stringify(
    {
      candidates: [{
        content: {
          ...(parts.length === 0 ? {} : { parts: signed(parts, said) }),
          role: "model",
        },
        finishReason: FINISH_REASONS[said.stop],
        index: 0,
      }],
      usageMetadata: geminiUsage(
        said,
        said.usage.output - said.usage.reasoning,
      ),
      modelVersion: model,
      responseId: letters(seeded, 23),
    },
    undefined,
    2,
  ) + "\n";
}

function chunks({ said, model, seed }: Speech): object[] {
  const seeded = seededBy(seed);
  const responseId = letters(seeded, 23);
  const parts: object[] = signed(said.blocks.flatMap(streamedParts), said);
  const visible = said.usage.output - said.usage.reasoning;
  const last = parts.pop() ?? { text: "" };
  const chunk = (part: object, candidates: number, finish: object): object => ({
    candidates: [{
      content: { parts: [part], role: "model" },
      ...finish,
      index: 0,
    }],
    usageMetadata: geminiUsage(said, candidates),
    modelVersion: model,
    responseId,
  });
  return [
    ...parts.map((part, at) =>
      chunk(part, Math.floor((visible * (at + 1)) / (parts.length + 1)), {})
    ),
    chunk(last, visible, { finishReason: FINISH_REASONS[said.stop] }),
  ];
}

function streamedParts(block: Said["blocks"][number]): object[] {
  if (block.kind === "tool") return [callPart(block.name, block.args)];
  const parts: object[] = [];
  for (let at = 0; at < block.pieces.length; at += PIECES_PER_FRAME) {
    const text = block.pieces.slice(at, at + PIECES_PER_FRAME).join("");
    parts.push(block.kind === "thinking" ? { text, thought: true } : { text });
  }
  return parts;
}

function callPart(name: string, args: object): object {
  return { functionCall: { name, args } };
}

/** The signature of the thoughts stands on the first call, or on the last text. */
function signed(parts: readonly object[], said: Said): object[] {
  const thinking = said.blocks.find((block) => block.kind === "thinking");
  if (thinking === undefined) return [...parts];
  const firstCall = parts.findIndex((part) => "functionCall" in part);
  const at = firstCall === -1 ? parts.length - 1 : firstCall;
  return parts.map((part, index) =>
    index === at ? { ...part, thoughtSignature: thinking.signature } : part
  );
}

function geminiUsage({ usage }: Said, candidates: number): object {
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
