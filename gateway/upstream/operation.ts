/**
 * What a call asks of an upstream, such as a generation or a count of tokens: writes the request
 * for each candidate and reads the reply. Attempts, failover and payment know no more of it.
 */
import type { HeaderFields } from "../http/http_reply.ts";
import type { ApiError } from "../../translate/model/error.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { WholeReply } from "../../translate/stream/relay.ts";
import type { Relay } from "../../translate/stream/relay_interface.ts";
import type { UpstreamRequest } from "../../translate/upstream_request.ts";
import type { ByteSource } from "./http/byte_source.ts";
import type { UpstreamResponse } from "./http/http_client.ts";
import type { SentRequest } from "./authenticated_call.ts";
import type { Candidate, ModelRegistry } from "./catalogue/model_registry.ts";
import type { Model } from "./catalogue/catalogue.ts";

/** A reply that is relayed as it arrives; its first frame has arrived. */
export interface StreamedReply {
  readonly type: "stream";
  readonly relay: Relay;
  readonly source: ByteSource;
  /** Relayed bytes of the first frame. */
  readonly first: Uint8Array;
  /** Whether the upstream has repeated its own key so far, which was removed; absent: no. */
  readonly hadKey?: () => boolean;
  /** What describes its body; absent: it is an event stream. */
  readonly headers?: HeaderFields;
}

/** A reply that was read to its end; as event stream text for a client that asked for a stream. */
export interface ReadReply {
  readonly type: "whole";
  readonly reply: WholeReply;
  /** The upstream repeated its own key, which was removed. */
  readonly hadKey: () => boolean;
  /** What describes its body; absent: it is JSON, or an event stream where that was asked for. */
  readonly headers?: HeaderFields;
}

export type Reply = StreamedReply | ReadReply;

/** A call as written for one candidate. It must not hold the client's request: it may be large. */
export interface PreparedCall<Result> {
  /** Where the call goes. */
  readonly candidate: Candidate;
  /** One of the candidate's addresses. */
  readonly url: string;
  /** The request, always written from the client's original one. */
  readonly request: SentRequest & Pick<UpstreamRequest, "dropped">;
  /** Whether the request can be sent once more; absent: it can. */
  canRepeat?(): boolean;
  /** Whether `read` returns before the response has ended. */
  isRelayed(response: UpstreamResponse): boolean;
  /**
   * Reads a response with a status of success.
   *
   * @throws {ApiError} the error that the response contains, or `upstream` if it cannot be read
   */
  read(response: UpstreamResponse): Promise<Result>;
  /**
   * A relay that writes pings, and an error, while there is no reply. Absent: the client receives
   * nothing before the reply.
   */
  pingRelay?(): Relay;
}

/** What a call asks of an upstream. */
export interface Operation<Result> {
  /** Whether the client asked for a stream; the upstream is asked for the same. */
  readonly isStream: boolean;
  /** The candidates of a model that can do it, by ascending priority. */
  candidates(models: ModelRegistry, model: Model): readonly Candidate[];
  /**
   * Writes the call for a candidate; a large one in turns of the event loop.
   *
   * @throws {ApiError} `invalid_request` if the candidate's format cannot express it
   */
  prepare(
    candidate: Candidate,
  ): PreparedCall<Result> | Promise<PreparedCall<Result>>;
  /**
   * The call for the same candidate without the part that it refused; undefined if there is no such
   * part. Absent: there never is.
   */
  prepareAgain?(
    candidate: Candidate,
    refusal: ApiError,
  ): PreparedCall<Result> | Promise<PreparedCall<Result>> | undefined;
}

/** The progress of a reply that reports nothing but usage, once it has ended. */
export function endedProgress(
  usage: ReplyProgress["usage"],
): ReplyProgress {
  return { started: true, ended: true, usage, generatedChars: 0 };
}
