/**
 * The client's distributed trace, as in W3C Trace Context (https://www.w3.org/TR/trace-context/).
 * Without span collection it is forwarded unchanged; `call_span.ts` handles spans.
 */

/** A client's trace context. */
export interface Trace {
  /** The header as received. */
  readonly traceparent: string;
  /** The trace id: 32 hexadecimal digits. */
  readonly traceId: string;
}

/** Version 00, the only one defined: trace id, parent id, flags. */
const TRACEPARENT =
  /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The request's trace; undefined if `traceparent` is absent or invalid. */
export function traceOf(headers: Headers): Trace | undefined {
  const traceparent = headers.get("traceparent") ?? "";
  const traceId = TRACEPARENT.exec(traceparent)?.[1];
  return traceId === undefined ? undefined : { traceparent, traceId };
}
