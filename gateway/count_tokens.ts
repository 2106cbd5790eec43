/**
 * How many tokens a prompt has: asked of the vendor where it counts, estimated elsewhere. Costs nothing and reserves nothing.
 *
 * @module
 */
import type { Dialect } from "../translate/dialect.ts";
import { ApiError } from "../translate/error.ts";
import { isObject, type JsonObject, parseJson } from "../translate/json.ts";
import type { TopLevel } from "../translate/json_splice.ts";
import { upstreamRequest } from "../translate/relay.ts";
import type { GenerationRequest } from "../translate/request.ts";
import type { Caller } from "./accounts/accounts.ts";
import { inputTokens } from "./estimate.ts";
import type { Gateway } from "./gateway.ts";
import { permittedModel, refuseDisabled } from "./permitted_model.ts";
import type { Trace } from "./trace.ts";
import { readUpTo } from "./upstream/attempt.ts";
import { callHeaders } from "./upstream/call_headers.ts";

/** A request to count. */
export interface CountCall {
  /** The caller's; a vendor is asked only where it speaks the same. */
  readonly dialect: Dialect;
  /** Decides which models may be asked about. */
  readonly caller: Caller;
  /** After decompression; what a vendor that counts is sent. */
  readonly bytes: Uint8Array;
  /** What the bytes parse to. */
  readonly body: JsonObject;
  /** Where its fields stand in the bytes. */
  readonly top: TopLevel;
  /** What the body means: the estimate is made of it. */
  readonly request: GenerationRequest;
  /** Version and betas, for a vendor that counts. */
  readonly headers: Readonly<Record<string, string>>;
  /** The trace that the caller told, to be passed on. */
  readonly trace: Trace | undefined;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Counts a prompt's tokens.
 *
 * @throws {ApiError} as a generation call does before it reaches the model
 */
export async function countTokens(
  gateway: Gateway,
  call: CountCall,
): Promise<number> {
  refuseDisabled(call.caller);
  const model = permittedModel(gateway, call.caller, call.request.model);
  const candidate = gateway.offer.candidates(model, call.dialect.name).find((
    { dialect, wire },
  ) => dialect.name === call.dialect.name && wire.countPath !== undefined);
  const path = candidate?.wire.countPath;
  if (candidate === undefined || path === undefined) {
    return inputTokens(call.request);
  }
  const { dialect } = candidate;
  const upstream = upstreamRequest(
    {
      dialect: call.dialect,
      bytes: call.bytes,
      body: call.body,
      top: call.top,
      request: call.request,
    },
    dialect,
    candidate.upstreamModel,
    candidate.can,
  );
  const { signal, forget } = limited(
    call.signal,
    gateway,
    model.totalTimeoutMs ?? gateway.config.totalTimeoutMs,
  );
  try {
    const response = await gateway.client.call({
      url: `${candidate.access.baseUrl}${path}`,
      headers: callHeaders({
        candidate,
        upstream,
        stream: false,
        dialectHeaders: call.headers,
        trace: call.trace,
      }),
      body: upstream.bytes,
      signal,
      ...(candidate.limits === undefined ? {} : { limits: candidate.limits }),
    });
    const text = new TextDecoder().decode(
      await readUpTo(response.body, MAX_ANSWER_BYTES, "cut"),
    );
    if (response.status !== 200) {
      throw dialect.decodeError(response.status, response.headers(), text);
    }
    return countIn(text);
  } finally {
    forget();
  }
}

/** Ends when the caller leaves, or when the time for a whole call is over. */
function limited(
  caller: AbortSignal,
  { timers }: Gateway,
  totalMs: number,
): { readonly signal: AbortSignal; readonly forget: () => void } {
  const controller = new AbortController();
  const left = (): void => controller.abort(caller.reason);
  if (caller.aborted) left();
  caller.addEventListener("abort", left);
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
    forget() {
      timers.clear(timer);
      caller.removeEventListener("abort", left);
    },
  };
}

/** The count in a vendor's answer: whole, not below zero, and one that a double holds. */
function countIn(text: string): number {
  const answer = parseJson(text);
  const counted = isObject(answer) ? answer["input_tokens"] : undefined;
  if (
    typeof counted !== "number" || !Number.isSafeInteger(counted) || counted < 0
  ) {
    throw new ApiError(
      "upstream",
      "could not read the upstream's count of tokens",
    );
  }
  return counted;
}
