/**
 * One call to a candidate with its credential. The credential's headers are computed last, because
 * a signature covers the final body and is valid for a short time.
 */
import type { UpstreamRequest } from "../../translate/upstream_request.ts";
import type { Trace } from "../http/trace.ts";
import { callHeaders } from "./call_headers.ts";
import type { AuthHeaders } from "./credentials/credential.ts";
import type { UpstreamClient, UpstreamResponse } from "./http/http_client.ts";
import type { IterableBody } from "./http/resent_body.ts";
import type { Candidate } from "./catalogue/model_registry.ts";

export interface SentRequest
  extends Pick<UpstreamRequest, "bytes" | "headers"> {
  /** Sent in place of the bytes, which no signature covers then. */
  readonly body?: IterableBody;
}

interface AuthenticatedCall {
  /** Makes the HTTP call and enforces its time limits. */
  readonly client: UpstreamClient;
  readonly candidate: Candidate;
  /** One of the candidate's addresses. */
  readonly url: string;
  /** The request as written for the candidate. */
  readonly upstream: SentRequest;
  /** Whether a stream is asked for. */
  readonly stream: boolean;
  /** The client's trace, forwarded to the upstream. */
  readonly trace: Trace | undefined;
  /** Aborts the call in any phase; its reason is thrown. */
  readonly signal: AbortSignal;
  /** The request goes out on an open connection. */
  readonly onSent?: () => void;
}

/** A response, and the credential's headers that were sent for it. */
export interface AuthenticatedResponse {
  /** Its body is unread. */
  readonly response: UpstreamResponse;
  /** What `refused()` of the credential needs: a newer credential must not be discarded. */
  readonly sent: AuthHeaders;
}

/**
 * Makes the call.
 *
 * @throws {ApiError} where there is no credential or no response; the signal's reason if it was
 * aborted
 */
export async function authenticatedCall(
  options: AuthenticatedCall,
): Promise<AuthenticatedResponse> {
  const { candidate, url, upstream, signal, onSent } = options;
  const { credential, hostDialect, limits, way } = candidate;
  const headers = credential.headers({
    url,
    body: upstream.bytes,
    auth: hostDialect.auth,
  });
  const sent = headers instanceof Promise
    ? await unlessAborted(headers, signal)
    : headers;
  const response = await options.client.call({
    url,
    headers: { ...callHeaders(options), ...sent },
    body: upstream.body ?? upstream.bytes,
    signal,
    ...(limits === undefined ? {} : { limits }),
    ...(way === undefined ? {} : { way }),
    ...(onSent === undefined ? {} : { onSent }),
  });
  return { response, sent };
}

/** The promise's value. The credential keeps a token that arrives after its client has gone. */
function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() =>
    signal.removeEventListener("abort", onAbort)
  );
}
