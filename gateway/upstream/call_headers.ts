/**
 * The headers of a call to an upstream: from the dialect, the vendor, the model and the client.
 *
 * @module
 */
import type { UpstreamRequest } from "../../translate/stream/relay.ts";
import type { Trace } from "../http/trace.ts";
import type { Candidate } from "./model_registry.ts";

/** Values that the headers depend on. */
export interface CallHeaders {
  /** Provides the key, and the betas that the model needs. */
  readonly candidate: Candidate;
  /** The request as written for the candidate. */
  readonly upstream: UpstreamRequest;
  /** Whether a stream is asked for. */
  readonly stream: boolean;
  /** The client's headers of its dialect; sent only with the client's own bytes. */
  readonly dialectHeaders: Readonly<Record<string, string>>;
  /** The client's trace, forwarded to the upstream. */
  readonly trace: Trace | undefined;
}

/** The headers of a call. A beta that both the client and the model's row enable is listed once. */
export function callHeaders(
  call: CallHeaders,
): Readonly<Record<string, string>> {
  const { candidate, upstream } = call;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: call.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...candidate.vendorDialect.headers(candidate.access.apiKey),
    ...upstream.headers,
    ...(upstream.passedThrough ? call.dialectHeaders : {}),
    ...(call.trace === undefined
      ? {}
      : { traceparent: call.trace.traceparent }),
  };
  if (candidate.betas.length === 0) return headers;
  const given = headers["anthropic-beta"];
  const known = new Set(given?.split(",").map((beta) => beta.trim()));
  const betas = [
    ...(given === undefined ? [] : [given]),
    ...candidate.betas.filter((beta) => !known.has(beta)),
  ];
  headers["anthropic-beta"] = betas.join(",");
  return headers;
}
