/**
 * Counts the tokens of a prompt: by the vendor if it offers a count, otherwise by an estimate. Free
 * of charge, so nothing is reserved.
 *
 * @module
 */
import type { Dialect } from "../../translate/dialect.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { JsonObject } from "../../translate/bytes/json.ts";
import type { TopLevel } from "../../translate/bytes/json_splice.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import type { Caller } from "../accounts/accounts.ts";
import { inputTokens } from "./estimate.ts";
import type { Gateway } from "../gateway.ts";
import { accessibleModel, assertActive } from "./model_access.ts";
import type { Trace } from "../http/trace.ts";
import { readUpTo } from "../upstream/attempt.ts";
import { countOf, countRequest } from "../upstream/count_request.ts";
import { authenticatedCall } from "../upstream/authenticated_call.ts";

/** A request whose tokens are counted. */
export interface CountTokensCall {
  /** The client's. Only a vendor of the same dialect is asked for a count. */
  readonly dialect: Dialect;
  /** Its plan decides which models are accessible. */
  readonly caller: Caller;
  /** The body after decompression; forwarded to a vendor that counts. */
  readonly bytes: Uint8Array;
  /** The parsed body. */
  readonly body: JsonObject;
  /** Positions of the top-level fields in the bytes. */
  readonly top: TopLevel;
  /** The decoded body; the estimate is computed from it. */
  readonly request: GenerationRequest;
  /** The client's headers for a vendor of its dialect. */
  readonly headers: Readonly<Record<string, string>>;
  /** The client's trace, forwarded to the vendor. */
  readonly trace: Trace | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * The number of prompt tokens.
 *
 * @throws {ApiError} the same errors as a generation call before its upstream call, and the
 * vendor's
 */
export async function countTokens(
  gateway: Gateway,
  call: CountTokensCall,
): Promise<number> {
  assertActive(call.caller);
  const model = accessibleModel(gateway, call.caller, call.request.model);
  const own = gateway.models.candidates(model, call.dialect.name).filter((
    { dialect },
  ) => dialect.name === call.dialect.name);
  const candidate = own.find(({ address }) => address.count !== undefined);
  const url = candidate?.address.count;
  const host = candidate?.hostDialect.count;
  if (candidate === undefined || url === undefined || host === undefined) {
    const { refusal } = call.request;
    if (refusal !== undefined && own.length === 0) throw refusal;
    return inputTokens(call.request);
  }
  const { dialect } = candidate;
  const upstream = countRequest(
    {
      dialect: call.dialect,
      bytes: call.bytes,
      body: call.body,
      top: call.top,
      request: call.request,
      headers: call.headers,
    },
    candidate,
    host,
  );
  const { signal, dispose } = withTimeout(
    call.signal,
    gateway,
    model.totalTimeoutMs ?? gateway.config.totalTimeoutMs,
  );
  try {
    for (let attempts = 1;; attempts++) {
      const { response, sent } = await authenticatedCall({
        client: gateway.client,
        candidate,
        url,
        upstream,
        stream: false,
        trace: call.trace,
        signal,
      });
      const text = new TextDecoder().decode(
        await readUpTo(response.body, MAX_RESPONSE_BYTES, "cut"),
      );
      const { status } = response;
      // This host counts no inference profiles and no server tools.
      if (host.wrap === "bedrock" && status === 400) {
        return inputTokens(call.request);
      }
      if (status === 200) {
        const count = countOf(text);
        if (count !== undefined) return count;
        throw new ApiError(
          "upstream",
          "could not read the upstream's count of tokens",
        );
      }
      const error = dialect.decodeError(status, response.headers(), text);
      // The credential may have another key, or a token may have expired early.
      if (
        attempts > 1 || error.details.refused !== "credential" ||
        !await candidate.credential.refused(sent, response)
      ) throw error;
    }
  } finally {
    dispose();
  }
}

/** A signal that aborts when the client disconnects or the total timeout expires. */
function withTimeout(
  client: AbortSignal,
  { timers }: Gateway,
  totalMs: number,
): { readonly signal: AbortSignal; readonly dispose: () => void } {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(client.reason);
  if (client.aborted) onAbort();
  client.addEventListener("abort", onAbort);
  const timer = timers.set(
    () =>
      controller.abort(
        new ApiError(
          "timeout",
          "the answer took longer than the gateway allows",
        ),
      ),
    totalMs,
  );
  return {
    signal: controller.signal,
    dispose() {
      timers.clear(timer);
      client.removeEventListener("abort", onAbort);
    },
  };
}
