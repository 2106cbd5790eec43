/**
 * The sources of a reply, decoded and encoded: `groundingMetadata`, `citationMetadata` and
 * `urlContextMetadata` of a candidate. Positions are bytes of the text as UTF-8.
 */
import {
  arrayOr,
  countIn,
  isObject,
  type JsonObject,
  objectOr,
  textIn,
} from "../../bytes/json.ts";
import type { WebSearched } from "../../model/reply.ts";
import { type Citation, MAX_CITATIONS } from "../../model/citation.ts";

const FIELDS = [
  "groundingMetadata",
  "citationMetadata",
  "urlContextMetadata",
] as const;

/** The metadata that a candidate has beside older ones: frames of a stream repeat and extend it. */
export function groundingOf(
  candidate: JsonObject,
  older: JsonObject | undefined,
): JsonObject | undefined {
  let found = older;
  for (const field of FIELDS) {
    const value = candidate[field];
    if (!isObject(value)) continue;
    found = { ...found, [field]: { ...objectOr(found?.[field]), ...value } };
  }
  return found;
}

/** The search that found the sources; undefined where there was none. */
export function searchOf(
  { groundingMetadata }: JsonObject,
): WebSearched | undefined {
  const { webSearchQueries, groundingChunks } = objectOr(groundingMetadata);
  const queries = arrayOr(webSearchQueries).filter((one) =>
    typeof one === "string"
  );
  return queries.length === 0 ? undefined : {
    queries,
    sources: arrayOr(groundingChunks).slice(0, MAX_CITATIONS).flatMap(
      (chunk) => source(chunk) ?? [],
    ),
  };
}

/** The metadata of the text that ends, and that of texts in later parts where there is any. */
export function splitGrounding(
  grounding: JsonObject,
  isLater: (part: number) => boolean,
): readonly [here: JsonObject, later: JsonObject | undefined] {
  const { groundingMetadata } = grounding;
  const { groundingChunks, groundingSupports } = objectOr(groundingMetadata);
  const here: unknown[] = [];
  const later: unknown[] = [];
  for (const support of arrayOr(groundingSupports)) {
    const { partIndex } = objectOr(objectOr(support)["segment"]);
    (isLater(countIn(partIndex) ?? 0) ? later : here).push(support);
  }
  const of = (groundingSupports: readonly unknown[]): JsonObject =>
    // Chunks without supports are of the text as a whole.
    groundingSupports.length === 0 ? {} : {
      groundingMetadata: { groundingChunks, groundingSupports },
    };
  return later.length === 0
    ? [grounding, undefined]
    : [{ ...grounding, groundingMetadata: {}, ...of(here) }, of(later)];
}

/**
 * The sources of a text. `starts` are the positions at which the parts that it was joined from
 * begin, by their index: positions count from the beginning of a part.
 */
export function citationsOf(
  grounding: JsonObject,
  text: string,
  starts: ReadonlyMap<number, number>,
): readonly Citation[] {
  const { groundingMetadata, citationMetadata, urlContextMetadata } = grounding;
  const chunks = arrayOr(objectOr(groundingMetadata)["groundingChunks"]).map(
    source,
  );
  const supports = arrayOr(objectOr(groundingMetadata)["groundingSupports"]);
  const recited = objectOr(citationMetadata);
  const found: Found[] = [];
  const add = (one: Found | undefined): void => {
    if (one !== undefined && found.length < MAX_CITATIONS) found.push(one);
  };
  const byteAt = bytePositions(text);
  for (const support of supports) {
    const { segment, groundingChunkIndices } = objectOr(support);
    const place = objectOr(segment);
    const start = starts.get(countIn(place["partIndex"]) ?? 0) ?? 0;
    const bytes = bytesOf(place, start === 0 ? 0 : byteAt(start));
    for (const index of arrayOr(groundingChunkIndices)) {
      const chunk = typeof index === "number" ? chunks[index] : undefined;
      add(chunk && { ...chunk, ...bytes });
    }
  }
  if (supports.length === 0) chunks.forEach(add);
  for (
    const one of [
      ...arrayOr(recited["citationSources"]),
      ...arrayOr(recited["citations"]),
    ].map(objectOr)
  ) {
    const cited = sourceOf(one["uri"], one["title"]);
    add(cited && { ...cited, ...bytesOf(one, 0) });
  }
  for (const one of arrayOr(objectOr(urlContextMetadata)["urlMetadata"])) {
    const { retrievedUrl, urlRetrievalStatus: status } = objectOr(one);
    const isRead = status === undefined ||
      status === "URL_RETRIEVAL_STATUS_SUCCESS";
    const isNew = found.every(({ url }) => url !== retrievedUrl);
    if (isRead && isNew) add(sourceOf(retrievedUrl, undefined));
  }
  const unitAt = utf16Positions(
    text,
    found.flatMap(({ bytes }) => bytes ?? []),
  );
  return found.map(({ bytes: [from, to] = [0, 0], ...cited }): Citation => {
    const start = unitAt(from);
    const end = unitAt(to);
    return end > start ? { ...cited, span: { start, end } } : cited;
  });
}

interface Found extends Omit<Citation, "span"> {
  readonly bytes?: readonly [start: number, end: number];
}

/** A page, a place, or a document of a search that the client set up. */
function source(chunk: unknown): Found | undefined {
  const { web, maps, retrievedContext } = objectOr(chunk);
  const one = objectOr(web ?? maps ?? retrievedContext);
  const cited = sourceOf(one["uri"], one["title"]);
  const quote = textIn(one["text"]);
  return cited && (quote === undefined ? cited : { ...cited, quote });
}

function sourceOf(uri: unknown, title: unknown): Found | undefined {
  const url = textIn(uri);
  const name = textIn(title);
  return url === undefined
    ? undefined
    : { url, ...(name === undefined ? {} : { title: name }) };
}

/** Positions in bytes behind the first one; the format leaves zero out. */
function bytesOf(
  { startIndex, endIndex }: JsonObject,
  first: number,
): { readonly bytes?: readonly [number, number] } {
  const end = countIn(endIndex);
  return end === undefined
    ? {}
    : { bytes: [first + (countIn(startIndex) ?? 0), first + end] };
}

/** The positions in UTF-16 units of positions in bytes, found in one pass. */
function utf16Positions(
  text: string,
  bytes: readonly number[],
): (byte: number) => number {
  const wanted = [...new Set(bytes)].sort((a, b) => a - b);
  const units = new Map<number, number>();
  let unit = 0;
  let byte = 0;
  for (const position of wanted) {
    while (byte < position && unit < text.length) {
      const point = text.codePointAt(unit) ?? 0;
      byte += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      unit += point < 0x10000 ? 1 : 2;
    }
    units.set(position, unit);
  }
  return (position) => units.get(position) ?? 0;
}

/** A text with sources. */
export interface CitedText {
  readonly text: string;
  readonly citations: readonly Citation[];
  /** The place of the text in the turn. */
  readonly part: number;
}

/** The `groundingMetadata` of all sources of a reply, as a field; none where there are none. */
export function encodeGrounding(cited: readonly CitedText[]): JsonObject {
  if (cited.length === 0) return {};
  const chunks: JsonObject[] = [];
  const supports: JsonObject[] = [];
  for (const { text, citations, part } of cited) {
    const byteAt = bytePositions(text);
    for (const { url, title, span } of citations) {
      if (span !== undefined) {
        supports.push({
          segment: {
            ...(part === 0 ? {} : { partIndex: part }),
            startIndex: byteAt(span.start),
            endIndex: byteAt(span.end),
            text: text.slice(span.start, span.end),
          },
          groundingChunkIndices: [chunks.length],
        });
      }
      chunks.push({
        web: { uri: url, ...(title === undefined ? {} : { title }) },
      });
    }
  }
  return {
    groundingMetadata: {
      groundingChunks: chunks,
      groundingSupports: supports,
    },
  };
}

/** The positions in bytes of positions in UTF-16 units; each is counted once. */
function bytePositions(text: string): (unit: number) => number {
  let bytes: number[] | undefined;
  return (unit) => {
    if (bytes === undefined) {
      bytes = [0];
      let byte = 0;
      for (const char of text) {
        const point = char.codePointAt(0) ?? 0;
        byte += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        for (let i = 0; i < char.length; i++) bytes.push(byte);
      }
    }
    return bytes[Math.min(unit, text.length)] ?? 0;
  };
}
