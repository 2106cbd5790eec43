/**
 * The headers of a call to an upstream: of the dialect, of the vendor, of the model, and what the caller may add.
 *
 * @module
 */
import type { UpstreamRequest } from "../../translate/relay.ts";
import type { Trace } from "../trace.ts";
import type { Candidate } from "./candidates.ts";

/** What the headers depend on. */
export interface CallHeaders {
  /** Gives the key, and the betas that the model needs. */
  readonly candidate: Candidate;
  /** The request, written for the candidate. */
  readonly upstream: UpstreamRequest;
  /** Whether a stream is asked for. */
  readonly stream: boolean;
  /** The caller's headers of its dialect; they go along with its own bytes only. */
  readonly dialectHeaders: Readonly<Record<string, string>>;
  /** The trace that the caller told, to be passed on. */
  readonly trace: Trace | undefined;
}

/** The headers of a call. A beta is switched on by the caller, by the model's row, or by both: it is named once. */
export function callHeaders(
  call: CallHeaders,
): Readonly<Record<string, string>> {
  const { candidate, upstream } = call;
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: call.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...candidate.wire.headers(candidate.access.apiKey),
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
