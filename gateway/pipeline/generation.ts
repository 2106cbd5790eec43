/**
 * The operation of generating: a client's request in any format, written for each candidate in its
 * own, and the reply in the client's.
 */
import { asksForSearch } from "../../translate/turns/web_search.ts";
import type { ApiError } from "../../translate/model/error.ts";
import type { GenerationRequest } from "../../translate/model/request.ts";
import type {
  ClientRequest,
  UpstreamRequest,
} from "../../translate/upstream_request.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type {
  Candidate,
  ModelRegistry,
} from "../upstream/catalogue/model_registry.ts";
import type { ToolUse } from "../upstream/hosts/host.ts";
import type { Operation, PreparedCall, Reply } from "../upstream/operation.ts";
import { prepareRequest, withoutProofs } from "../upstream/prepare_request.ts";
import { generationReader, type Reading } from "./read_generation.ts";

/** Asks a candidate, in its own format, for what the client asked for in its format. */
export class Generation implements Operation<Reply> {
  readonly #client: ClientRequest;
  readonly #reading: Reading;
  readonly #isStrict: boolean;

  /** @param isStrict whether the client prefers an error to a dropped field */
  constructor(client: ClientRequest, reading: Reading, isStrict: boolean) {
    this.#client = client;
    this.#reading = reading;
    this.#isStrict = isStrict;
  }

  /** See {@linkcode Operation.isStream}. */
  get isStream(): boolean {
    return this.#client.request.stream;
  }

  /** See {@linkcode Operation.candidates}. */
  candidates(models: ModelRegistry, model: Model): readonly Candidate[] {
    const { dialect, request } = this.#client;
    return models.candidates(model, dialect.name, toolUse(request));
  }

  /** See {@linkcode Operation.prepare}. */
  prepare(
    candidate: Candidate,
  ): PreparedCall<Reply> | Promise<PreparedCall<Reply>> {
    return this.#prepared(
      candidate,
      prepareRequest(this.#client, candidate, this.#isStrict),
    );
  }

  /** Without the reasoning signatures that the candidate refused. */
  prepareAgain(
    candidate: Candidate,
    refusal: ApiError,
  ): PreparedCall<Reply> | Promise<PreparedCall<Reply>> | undefined {
    const upstream = withoutProofs(
      this.#client,
      this.#isStrict,
      candidate,
      refusal,
    );
    return upstream && this.#prepared(candidate, upstream);
  }

  #prepared(
    candidate: Candidate,
    upstream: UpstreamRequest | Promise<UpstreamRequest>,
  ): PreparedCall<Reply> | Promise<PreparedCall<Reply>> {
    const reading = this.#reading;
    return upstream instanceof Promise
      ? upstream.then((one) => prepareCall(candidate, one, reading))
      : prepareCall(candidate, upstream, reading);
  }
}

function prepareCall(
  candidate: Candidate,
  { bytes, headers, dropped, context }: UpstreamRequest,
  reading: Reading,
): PreparedCall<Reply> {
  const { stream, whole } = candidate.address;
  return {
    candidate,
    url: reading.isStream ? stream : whole,
    request: { bytes, headers, dropped },
    ...generationReader(reading, candidate, context),
  };
}

/**
 * The largest output limit among the candidates, because any of them may reply, for each of the
 * replies that the client asks for.
 */
export function maxOutputTokens(
  request: GenerationRequest,
  candidates: readonly Candidate[],
): number {
  let largest = 0;
  for (const candidate of candidates) {
    largest = Math.max(largest, outputCap(request, candidate));
  }
  return largest * (request.replyCount ?? 1);
}

/**
 * The most tokens that a candidate can generate: the client's limit, or the default that its
 * request carries, capped by the model's own limit.
 */
function outputCap(request: GenerationRequest, candidate: Candidate): number {
  const { maxOutputTokens, defaultMaxTokens, reasoning } =
    candidate.capabilities;
  // With a reasoning budget, the default is sent plus the budget.
  const sentDefault = candidate.dialect.name === "messages" &&
    (request.reasoning === undefined || reasoning !== "budget");
  return Math.min(
    request.maxTokens ??
      (sentDefault ? defaultMaxTokens : maxOutputTokens ?? defaultMaxTokens),
    maxOutputTokens ?? Infinity,
  );
}

/** What is special about the request's tools: some models take it in one format only. */
function toolUse(request: GenerationRequest): ToolUse | undefined {
  const { tools, reasoning } = request;
  if (tools === undefined || tools.length === 0) return undefined;
  if (asksForSearch(request)) return "web search";
  if (reasoning === undefined) return "reasoning left to the model";
  return reasoning.mode === "off" ? undefined : "reasoning asked";
}
