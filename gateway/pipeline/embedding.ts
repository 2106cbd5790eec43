/**
 * The operation of making embeddings, by candidates whose hosts make them.
 */
import {
  type EmbeddingClient,
  type EmbeddingReading,
  embeddingReplySteps,
  embeddingRequest,
  type EmbeddingUpstreamRequest,
  readEmbeddings,
  readManyEmbeddings,
} from "../../translate/embeddings/embedding_call.ts";
import type { EmbeddingForm } from "../../translate/embeddings/embedding_form.ts";
import { ApiError } from "../../translate/model/error.ts";
import { atOnce } from "../../translate/steps.ts";
import { nextTurn } from "../accounts/next_turn.ts";
import { isLarge } from "../http/request_body.ts";
import { inTurns } from "../in_turns.ts";
import { readUpTo } from "../upstream/attempt.ts";
import type { Model } from "../upstream/catalogue/catalogue.ts";
import type {
  Candidate,
  ModelRegistry,
} from "../upstream/catalogue/model_registry.ts";
import {
  endedProgress,
  type Operation,
  type PreparedCall,
  type Reply,
} from "../upstream/operation.ts";
import { withoutKeys } from "../upstream/without_keys.ts";

/** 2048 vectors of 4096 numbers, as text. */
const MAX_REPLY_BYTES = 256 * 1024 * 1024;

/** Asks for one vector per input. */
export class Embedding implements Operation<Reply> {
  /** Vectors come whole. */
  readonly isStream = false;
  readonly #client: EmbeddingClient;
  readonly #inputEstimate: number;

  /** @param inputEstimate prompt tokens, for replies that do not report them */
  constructor(client: EmbeddingClient, inputEstimate: number) {
    this.#client = client;
    this.#inputEstimate = inputEstimate;
  }

  /** @throws {ApiError} `invalid_request` where no candidate's host makes embeddings */
  candidates(models: ModelRegistry, model: Model): readonly Candidate[] {
    const found = models.candidates(model, "chat_completions").filter((one) =>
      one.address.embeddings !== undefined
    );
    if (found.length > 0) return found;
    throw new ApiError(
      "invalid_request",
      `model: no upstream of ${model.id} makes embeddings`,
      { param: "model", code: "unsupported_operation", retryable: false },
    );
  }

  /** See {@linkcode Operation.prepare}. */
  prepare(
    candidate: Candidate,
  ): PreparedCall<Reply> | Promise<PreparedCall<Reply>> {
    const { address, hostDialect, upstreamModel } = candidate;
    const { request } = this.#client;
    if (
      address.embeddings === undefined || hostDialect.embeddings === undefined
    ) throw new Error(`${candidate.name} makes no embeddings`);
    const { form: named } = hostDialect.embeddings;
    const form = named === "bedrock" ? makersForm(upstreamModel) : named;
    const url = address.embeddings;
    const complete = (
      sent: EmbeddingUpstreamRequest,
    ): PreparedCall<Reply> => ({
      candidate,
      url,
      request: { headers: {}, ...sent },
      ...reader(candidate, {
        form,
        request: { model: request.model, encoding: request.encoding },
        count: request.inputs.length,
        inputEstimate: this.#inputEstimate,
      }),
    });
    const steps = embeddingRequest(this.#client, form, upstreamModel);
    return isLarge(this.#client)
      ? inTurns(steps).then(complete)
      : complete(atOnce(steps));
  }
}

/** The form of a model on Bedrock, whose ids may begin with the region of a profile. */
function makersForm(upstreamModel: string): EmbeddingForm {
  return /(?:^|\.)cohere\./.test(upstreamModel) ? "cohere" : "titan";
}

function reader(
  candidate: Candidate,
  reading: EmbeddingReading,
): Pick<PreparedCall<Reply>, "isRelayed" | "read"> {
  return {
    isRelayed: () => false,
    async read(response) {
      const sent = await readUpTo(response.body, MAX_REPLY_BYTES, "fail");
      const isLong = isLarge({ bytes: sent });
      if (isLong) await nextTurn();
      const bytes = withoutKeys(sent, candidate.credential.secrets());
      if (isLong) await nextTurn();
      const read = isLong
        ? await inTurns(readManyEmbeddings(bytes))
        : readEmbeddings(bytes);
      const { body, inputTokens } = await inTurns(
        embeddingReplySteps(reading, read, response.headers()),
      );
      const usage = {
        ...(inputTokens === undefined ? {} : { input: inputTokens }),
        output: 0,
      };
      return {
        type: "whole",
        reply: { body, progress: endedProgress(usage) },
        hadKey: () => bytes !== sent,
      };
    },
  };
}
