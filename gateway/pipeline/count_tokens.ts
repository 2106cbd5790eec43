/**
 * Counts the tokens of a prompt: by the vendor if it offers a count, otherwise by an estimate. Free
 * of charge, but limited as calls are.
 */
import type { ClientRequest } from "../../translate/upstream_request.ts";
import { ApiError } from "../../translate/model/error.ts";
import type { Caller } from "../accounts/accounts.ts";
import type { Gateway } from "../gateway.ts";
import type { Trace } from "../http/trace.ts";
import { attempt, readUpTo } from "../upstream/attempt.ts";
import { countOf, countRequest } from "../upstream/count_request.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Operation, PreparedCall } from "../upstream/operation.ts";
import { inputTokens } from "./estimate.ts";
import { inTurns } from "../in_turns.ts";
import { accessibleModel, assertActive } from "./model_access.ts";

interface CountTokensCall {
  /** The request whose prompt is counted. */
  readonly client: ClientRequest;
  /** Its plan decides which models are accessible; its limits and balance, whether it may count. */
  readonly caller: Caller;
  readonly requestId: string;
  /** The client's trace, forwarded to the vendor. */
  readonly trace: Trace | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

const MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * The number of prompt tokens, by the first candidate that counts; where those fail that count, and
 * the model has others, by an estimate.
 *
 * @throws {ApiError} the same errors as a generation call before its upstream call, and the
 * vendor's
 */
export async function countTokens(
  gateway: Gateway,
  call: CountTokensCall,
): Promise<number> {
  const { client: { request }, caller, requestId } = call;
  assertActive(caller);
  const model = accessibleModel(gateway, caller, request.model, "generation");
  const end = await gateway.accounts.beginCount(caller, {
    requestId,
    model: model.id,
  });
  try {
    return await countFor(gateway, call, model);
  } finally {
    end();
  }
}

async function countFor(
  gateway: Gateway,
  { client, trace, ...call }: CountTokensCall,
  model: Model,
): Promise<number> {
  const { request } = client;
  const operation = countOperation(client);
  const candidates = operation.candidates(gateway.models, model);
  const counting = candidates.filter(countsTokens);
  if (counting.length === 0) {
    const isTranslated = candidates.every(({ dialect }) =>
      dialect.name !== client.dialect.name
    );
    if (request.refusal !== undefined && isTranslated) throw request.refusal;
    return await inTurns(inputTokens(request));
  }
  const { signal, dispose } = withTimeout(
    call.signal,
    gateway,
    model.totalTimeoutMs ?? gateway.config.totalTimeoutMs,
  );
  let failure: ApiError | undefined;
  try {
    for (const candidate of counting) {
      const ended = await attempt({
        client: gateway.client,
        call: await operation.prepare(candidate),
        isStream: operation.isStream,
        trace,
        signal,
      });
      if (ended.type === "replied") return ended.result;
      if (isUncounted(candidate, ended.error)) {
        return await inTurns(inputTokens(request));
      }
      if (ended.retryAt === "none") throw ended.error;
      failure ??= ended.error;
    }
  } finally {
    dispose();
  }
  // A candidate that cannot count may still serve calls.
  if (failure === undefined || counting.length < candidates.length) {
    return await inTurns(inputTokens(request));
  }
  throw failure;
}

/** What is asked of each candidate that counts. */
function countOperation(client: ClientRequest): Operation<number> {
  return {
    isStream: false,
    candidates: (models, model) =>
      models.candidates(model, client.dialect.name),
    prepare: (candidate) => prepareCount(client, candidate),
  };
}

/**
 * Whether an error means that this prompt cannot be counted there, rather than that it is wrong.
 */
function isUncounted(
  { dialect, hostDialect }: Candidate,
  { details: { upstreamStatus } }: ApiError,
): boolean {
  // This host counts no inference profiles and no server tools.
  if (hostDialect.count?.wrap === "bedrock") return upstreamStatus === 400;
  // Hosts that are compatible with the format may have no count.
  return dialect.name === "responses" &&
    (upstreamStatus === 404 || upstreamStatus === 405);
}

function countsTokens({ address, hostDialect }: Candidate): boolean {
  return address.count !== undefined && hostDialect.count !== undefined;
}

async function prepareCount(
  client: ClientRequest,
  candidate: Candidate,
): Promise<PreparedCall<number>> {
  const { address, hostDialect } = candidate;
  if (address.count === undefined || hostDialect.count === undefined) {
    throw new Error(`${candidate.name} does not count tokens`);
  }
  return {
    candidate,
    url: address.count,
    request: await countRequest(client, candidate, hostDialect.count),
    isRelayed: () => false,
    async read({ body }) {
      const bytes = await readUpTo(body, MAX_RESPONSE_BYTES, "cut");
      const count = countOf(new TextDecoder().decode(bytes));
      if (count !== undefined) return count;
      throw new ApiError(
        "upstream",
        "could not read the upstream's count of tokens",
      );
    },
  };
}

/** A signal that aborts when the client disconnects or the total timeout expires. */
function withTimeout(
  client: AbortSignal,
  { timers }: Pick<Gateway, "timers">,
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
