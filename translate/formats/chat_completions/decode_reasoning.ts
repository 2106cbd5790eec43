/**
 * Decodes the reasoning of an assistant message into neutral parts, in the order in which the
 * model wrote them. The format keeps reasoning apart from text and calls, but a vendor accepts
 * signed reasoning only in its original order. Signed reasoning therefore goes back to the
 * position recorded in its entry (see `signatures.ts`). If the message has no such position any
 * more, the reasoning is dropped.
 */
import { objectOr, textIn } from "../../bytes/json.ts";
import type { Part, ReasoningPart, Signature } from "../../model/request.ts";
import { allDetails, detailReader, type Position } from "./signatures.ts";
import type { UnknownFields } from "../../model/unknown_fields.ts";
import type { ChatMessage } from "./wire.ts";

/** A block of reasoning and its position in the message. */
interface PlacedReasoning {
  /** The decoded block. */
  readonly part: ReasoningPart;
  /**
   * What precedes the block, apart from other reasoning. Undefined if the block was not first and
   * its position is unknown.
   */
  readonly position: Position | undefined;
}

/** Whether only a host of this format can read it. */
function isHosts({ signature }: { readonly signature?: Signature }): boolean {
  return signature?.from === "chat_completions";
}

const FIRST: Position = { content: 0, calls: 0 };

/**
 * Decodes the reasoning blocks of a message. Signed entries of `reasoning_details` keep blocks
 * apart, so they take precedence over the plain text of the same reasoning.
 */
export function readReasoning(
  message: ChatMessage & { readonly role: "assistant" },
  unknown: UnknownFields,
): readonly PlacedReasoning[] {
  const details = detailReader()(
    allDetails(message) ?? message.reasoning_details,
  );
  const plain = textIn(message.reasoning_content) ??
    textIn(objectOr(message)["reasoning"]);
  const isSealed = details.some(isHosts);
  const signed = details.some((detail) =>
    detail.signature !== undefined && !isHosts(detail)
  );
  if (!signed) {
    if (isSealed || (details.length > 0 && plain === undefined)) {
      unknown.optional.add("messages[].reasoning_details");
    }
    return plain === undefined
      ? []
      : [{ part: { type: "reasoning", text: plain }, position: FIRST }];
  }
  const blocks: { texts: string[]; last: typeof details[number] }[] = [];
  for (const detail of details) {
    const block = blocks.at(-1);
    const more = block !== undefined && detail.index !== undefined &&
      detail.index === block.last.index && block.last.signature === undefined &&
      detail.signature?.redacted !== true;
    if (more) {
      block.texts.push(detail.text);
      block.last = detail;
    } else blocks.push({ texts: [detail.text], last: detail });
  }
  return blocks.map(({ texts, last }, n) => ({
    part: {
      type: "reasoning",
      text: texts.join(""),
      ...(last.signature === undefined ? {} : { signature: last.signature }),
    },
    // A higher index means that the block was not first; what came before it is not known.
    position: last.position ?? ((last.index ?? n) > n ? undefined : FIRST),
  }));
}

/**
 * All parts in the order in which the model wrote them. Undefined if a recorded position does not
 * exist in the message, for example because the client edited it.
 */
export function withReasoning(
  reasoning: readonly PlacedReasoning[],
  content: readonly Part[],
  calls: readonly Part[],
): Part[] | undefined {
  const placed = reasoning.flatMap(({ part, position }) =>
    position === undefined ? [] : [{ part, position }]
  );
  if (placed.length < reasoning.length) return undefined;
  if (
    placed.every(({ position }) =>
      position.content === 0 && position.calls === 0
    )
  ) return [...placed.map(({ part }) => part), ...content, ...calls];
  const texts = content.flatMap((part) => part.type === "text" ? [part] : []);
  const rest = content.slice(texts.length);
  // Refusals and other parts follow all text, and only text can be split at a position.
  if (texts.some((part, n) => content[n] !== part)) return undefined;
  const text = texts.map((part) => part.text).join("");
  const parts: Part[] = [];
  let at = FIRST;
  const advance = (to: Position): void => {
    const piece = text.slice(at.content, to.content);
    if (piece !== "") parts.push({ type: "text", text: piece });
    parts.push(...calls.slice(at.calls, to.calls));
    at = to;
  };
  for (const { part, position } of placed) {
    const there = position.content >= at.content &&
      position.content <= text.length && position.calls >= at.calls &&
      position.calls <= calls.length;
    if (!there) return undefined;
    advance(position);
    parts.push(part);
  }
  const left = text.slice(at.content);
  if (left !== "") parts.push({ type: "text", text: left });
  return [...parts, ...rest, ...calls.slice(at.calls)];
}
