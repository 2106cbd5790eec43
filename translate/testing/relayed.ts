/**
 * What clients of a format receive of a reply in another one.
 */
import { atOnce } from "../steps.ts";
import { isObject, type JsonObject, objectOr } from "../bytes/json.ts";
import { type DecodeContext, type Dialect, PLAIN_CONTEXT } from "../dialect.ts";
import { upstreamDialect } from "../dialects.ts";
import type { DialectName } from "../model/request.ts";
import { streamRelay, wholeReply } from "../stream/relay.ts";
import { sseParser } from "../stream/sse.ts";
import { ENCODE_CONTEXT } from "./encode_context.ts";

const DECODE: DecodeContext = {
  ...PLAIN_CONTEXT,
  isTranslated: true,
  wantsProbabilities: true,
};

/** The reply that a client receives of an upstream's whole reply. */
export function whole(
  from: DialectName,
  to: Dialect,
  body: JsonObject,
): JsonObject {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const reply = atOnce(wholeReply(
    to,
    upstreamDialect(from),
    DECODE,
    ENCODE_CONTEXT,
    bytes,
  ));
  return objectOr(JSON.parse(new TextDecoder().decode(reply.body)));
}

/** The objects of the frames that a client receives of an upstream's stream. */
export function streamed(
  from: DialectName,
  to: Dialect,
  frames: readonly JsonObject[],
): readonly JsonObject[] {
  const relay = streamRelay(to, upstreamDialect(from), DECODE, ENCODE_CONTEXT);
  const parser = sseParser();
  return [
    ...frames.map((frame) =>
      relay.push(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`))
    ),
    relay.end(),
  ].flatMap((bytes) => parser.push(bytes)).flatMap(({ data }) => {
    const frame: unknown = data.startsWith("{") ? JSON.parse(data) : undefined;
    return isObject(frame) ? [frame] : [];
  });
}
