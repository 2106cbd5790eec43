/**
 * The events of whole blocks of a reply.
 */
import type { ReplyEvent } from "../model/reply.ts";
import type { Signature } from "../model/request.ts";

type TextKind = "text" | "reasoning" | "refusal";

const deltas = (texts: readonly string[]): readonly ReplyEvent[] =>
  texts.map((text) => ({ type: "delta", text }));

/** A block of these deltas. */
export const blockOf = (
  kind: TextKind,
  ...texts: readonly string[]
): readonly ReplyEvent[] => [
  { type: "open", kind },
  ...deltas(texts),
  { type: "close" },
];

/** A block of these deltas that ends with a signature. */
export const signedBlock = (
  kind: TextKind,
  signature: Signature,
  ...texts: readonly string[]
): readonly ReplyEvent[] => [
  { type: "open", kind },
  ...deltas(texts),
  { type: "sign", signature },
  { type: "close" },
];

/** A call with these fragments of its arguments. */
export const toolBlock = (
  id: string,
  name: string,
  ...fragments: readonly string[]
): readonly ReplyEvent[] => [
  { type: "open", kind: "tool", id, name },
  ...deltas(fragments),
  { type: "close" },
];
