/**
 * The headers of a call to an upstream, except those of the credential: from the host, the encoder
 * and the client.
 */
import type { UpstreamRequest } from "../../translate/upstream_request.ts";
import type { Trace } from "../http/trace.ts";
import { VERSION } from "../version.ts";
import type { Candidate } from "./catalogue/model_registry.ts";

interface CallHeaders {
  /** Where the call goes. */
  readonly candidate: Candidate;
  /** The request as written for the candidate. */
  readonly upstream: Pick<UpstreamRequest, "headers">;
  /** Whether a stream is asked for. */
  readonly stream: boolean;
  /** The client's trace, forwarded to the upstream. */
  readonly trace: Trace | undefined;
}

/** A list that the operator and the client both add to. */
const BETA_HEADER = "anthropic-beta";

/** The values of two lists, each once. */
function joinValues(first: string, second: string): string {
  const values = `${first},${second}`.split(",").map((value) => value.trim());
  return [...new Set(values)].join(",");
}

/** The headers, in lower case. */
export function callHeaders(
  { candidate, upstream, stream, trace }: CallHeaders,
): Readonly<Record<string, string>> {
  const { framing, headers: own = {} } = candidate.hostDialect;
  const asked = upstream.headers[BETA_HEADER];
  const betas = own[BETA_HEADER];
  return {
    "content-type": "application/json",
    accept: !stream
      ? "application/json"
      : framing === "aws_event_stream"
      ? "application/vnd.amazon.eventstream"
      : "text/event-stream",
    "accept-encoding": "identity",
    // Some hosts refuse calls without one.
    "user-agent": `model-gateway/${VERSION}`,
    ...upstream.headers,
    // The operator's, which no client replaces.
    ...own,
    ...(asked === undefined || betas === undefined
      ? {}
      : { [BETA_HEADER]: joinValues(betas, asked) }),
    ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
  };
}
