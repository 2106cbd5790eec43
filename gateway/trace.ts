/**
 * The caller's place in a distributed trace, as W3C Trace Context writes it (https://www.w3.org/TR/trace-context/). It is
 * passed on as it came where no spans are collected; those are `call_span.ts`.
 *
 * @module
 */

/** A caller's trace. */
export interface Trace {
  /** The header as it came. */
  readonly traceparent: string;
  /** Its trace id: 32 hexadecimal digits. */
  readonly traceId: string;
}

/** Version 00, the only one there is: trace id, parent id, flags. */
const TRACEPARENT =
  /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace that a request belongs to; undefined where it tells none, or none in the valid form. */
export function traceOf(headers: Headers): Trace | undefined {
  const traceparent = headers.get("traceparent") ?? "";
  const traceId = TRACEPARENT.exec(traceparent)?.[1];
  return traceId === undefined ? undefined : { traceparent, traceId };
}
