/**
 * Routes through a target, and what a run knows of the target.
 */
import type { DialectName } from "@model-gateway/replay/parse_request";

export interface Route {
  /** The part of a label that names the route: the dialect, or `model`. */
  readonly name: string;
  /** The dialect of the upstream; undefined in a live run, where it is unknown. */
  readonly via: DialectName | undefined;
  /** The model id to send. */
  readonly model: string;
}

/** A feature beyond the base specification. */
export type Feature =
  /** `POST /v1/responses`. */
  | "responses"
  /** `POST /v1beta/models/{model}:generateContent` and what belongs to it. */
  | "generate-content"
  /** The number of tokens of a request, by the format of the request. */
  | "message-counts"
  | "chat-counts"
  | "response-counts"
  | "content-counts"
  /** `GET /v1/responses` with the handshake of a web socket. */
  | "web-socket"
  /** `POST /v1/embeddings`. */
  | "embeddings"
  /** Responses that the target keeps, so that later requests can refer to them. */
  | "stored-responses"
  /** A second key of the target's account, given to the run. */
  | "second-key"
  /** Signs of life in streams of the Responses endpoint, whose interval is given to the run. */
  | "signs-of-life";

/** The optional endpoints by their names in `--endpoints`, each with its features. */
export const OPTIONAL_ENDPOINTS: Readonly<Record<string, readonly Feature[]>> =
  {
    "responses": [
      "responses",
      "stored-responses",
      "second-key",
      "signs-of-life",
    ],
    "generate-content": ["generate-content"],
    "counts": [
      "message-counts",
      "chat-counts",
      "response-counts",
      "content-counts",
    ],
    "embeddings": ["embeddings"],
    "web-socket": ["web-socket"],
  };

/** The profile of a target before any request. */
export const UNKNOWN_TARGET: TargetProfile = {
  models: [],
  messages: [],
  chat: [],
  responses: [],
  generate_content: [],
  embeddings: [],
  lacks: new Map(),
};

/** Facts about the target that are known before the scenarios. */
export interface TargetProfile {
  /** The ids of `GET /v1/models`; empty when it could not be read. */
  readonly models: readonly string[];
  /** Why no model is known, so that hardly anything can be asked; absent where one is. */
  readonly flaw?: string;
  /**
   * The models for the message endpoint: one per upstream dialect in a replay run, one in a live
   * run.
   */
  readonly messages: readonly Route[];
  /** The same for the chat endpoint. */
  readonly chat: readonly Route[];
  /** The same for the Responses endpoint; empty when the target does not offer it. */
  readonly responses: readonly Route[];
  /** The same for the generate-content format; empty when the target does not offer it. */
  readonly generate_content: readonly Route[];
  /** Models that make embeddings; empty when the target offers none. */
  readonly embeddings: readonly Route[];
  /** The optional features that the target does not offer, each with the reply that shows it. */
  readonly lacks: ReadonlyMap<Feature, string>;
}

/** An endpoint whose models have upstreams. */
export type Routed =
  | "messages"
  | "chat"
  | "responses"
  | "generate_content"
  | "embeddings";
