/**
 * The sources that a model gives for its text, and the form that the chat and the Responses formats
 * share for them (`url_citation`).
 */
import { countIn, type JsonObject, textIn } from "../bytes/json.ts";

/** A source of a text, or of a part of it. */
export interface Citation {
  /** Sources without an address have no place in other formats. */
  readonly url: string;
  /** Absent where the upstream gives none. */
  readonly title?: string;
  /** What the source states, in its own words; absent where the upstream does not quote it. */
  readonly quote?: string;
  /** Where in the block's text it is used, in UTF-16 units; absent: the whole block. */
  readonly span?: { readonly start: number; readonly end: number };
}

/** The most citations that are read of one reply: upstreams repeat them without limit. */
export const MAX_CITATIONS = 1_000;

/** Reads `url_citation`; undefined where it has no address. */
export function readUrlCitation(fields: JsonObject): Citation | undefined {
  const url = textIn(fields["url"]);
  if (url === undefined) return undefined;
  const title = textIn(fields["title"]);
  const quote = textIn(fields["content"]);
  const start = countIn(fields["start_index"]);
  const end = countIn(fields["end_index"]);
  return {
    url,
    ...(title === undefined ? {} : { title }),
    ...(quote === undefined ? {} : { quote }),
    ...(start === undefined || end === undefined || end <= start
      ? {}
      : { span: { start, end } }),
  };
}

/**
 * Writes the fields of `url_citation`.
 *
 * @param from where the block begins in the text that the positions are about
 * @param length of the block
 */
export function urlCitation(
  { url, title, span }: Citation,
  from: number,
  length: number,
): JsonObject {
  return {
    start_index: from + (span?.start ?? 0),
    end_index: from + (span?.end ?? length),
    title: title ?? url,
    url,
  };
}
