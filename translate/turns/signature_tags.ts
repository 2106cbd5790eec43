/**
 * Tagged signatures: another format's signature inside a field that normally holds a format's own.
 * The tag names the format that made it. The gateway's replies contain tagged signatures, requests
 * that bring them back are decoded, and pass-through removes them.
 */
import type { DialectName, Signature } from "../model/request.ts";

/** Start of every tag; no vendor's own signature starts like this. */
const OPENING = "gw1:";
const REDACTED = "-redacted";
const TAG = /^gw1:([a-z_]+)(-redacted)?:/;

const FORMATS: ReadonlyMap<string, DialectName> = new Map([
  ["messages", "messages"],
  ["generate_content", "generate_content"],
  ["responses", "responses"],
  ["converse", "converse"],
  ["chat_completions", "chat_completions"],
]);

/** Marks reasoning of another format that has no signature; names no format. */
export const UNSIGNED: string = `${OPENING}unsigned:`;

/** The signature with its tag in front. */
export function taggedValue({ from, value, redacted }: Signature): string {
  return `${OPENING}${from}${redacted === true ? REDACTED : ""}:${value}`;
}

/** Whether a value is tagged, possibly with an unknown format. */
export function isTagged(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(OPENING);
}

/** The signature in a tagged value; undefined where the tag is unknown. */
export function untag(value: string): Signature | undefined {
  const [tag = "", word = "", redacted] = TAG.exec(value) ?? [];
  const from = FORMATS.get(word);
  if (from === undefined) return undefined;
  return {
    from,
    value: value.slice(tag.length),
    ...(redacted === undefined ? {} : { redacted: true }),
  };
}
