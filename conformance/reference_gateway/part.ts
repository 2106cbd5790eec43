/** The reference gateway's own model of a request and a reply, independent of all formats. */
import type { DialectName } from "@model-gateway/replay/parse_request";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import type {
  NeutralUsage,
  StopCause,
} from "@model-gateway/replay/neutral_reply";

/** A piece of a reply, in order of arrival. */
export type Part =
  | {
    readonly type: "text";
    readonly text: string;
    /** True for the words of a refusal. */
    readonly refused?: boolean;
  }
  | { readonly type: "thinking"; readonly text: string }
  | {
    readonly type: "signature";
    readonly value: string;
    /** Absent: the message dialect; no other format than its own has it. */
    readonly of?: "generate_content";
  }
  | { readonly type: "redacted"; readonly data: string }
  | {
    /** The source of a text, as a citation or an annotation of one dialect. */
    readonly type: "source";
    readonly of: DialectName;
    readonly source: JsonObject;
  }
  | {
    readonly type: "tool";
    readonly call: number;
    readonly id: string;
    readonly name: string;
    /** Generate content. */
    readonly signature?: string;
  }
  | { readonly type: "args"; readonly call: number; readonly text: string }
  | { readonly type: "usage"; readonly usage: Partial<NeutralUsage> }
  | {
    readonly type: "stop";
    readonly cause: StopCause;
    readonly sequence?: string;
  }
  | { readonly type: "failed"; readonly problem: Problem };

export type TurnPart =
  | {
    readonly type: "text";
    readonly text: string;
    /** The message format's cache mark. */
    readonly cached?: JsonObject;
  }
  | { readonly type: "image"; readonly media: string; readonly data: string }
  | { readonly type: "image-url"; readonly url: string }
  | {
    readonly type: "call";
    readonly id: string;
    readonly name: string;
    readonly args: JsonObject;
    /** Generate content: the signature with which the model made it. */
    readonly signature?: string;
  }
  | {
    readonly type: "result";
    readonly id: string;
    /** Generate content: the name of its call. */
    readonly name?: string;
    readonly text: string;
    readonly failed?: boolean;
  }
  | { readonly type: "kept"; readonly block: JsonObject };

export interface Turn {
  /** The role of its author; `system` only for instructions inside the conversation. */
  readonly role: "user" | "assistant" | "system";
  readonly parts: readonly TurnPart[];
}

export interface Tool {
  readonly name: string;
  readonly about: string | undefined;
  readonly schema: Json;
  /** Whether arguments must keep to the schema exactly; absent: the upstream's default. */
  readonly strict?: boolean;
}

/** A request, as the reference gateway understood it. */
export interface ModelRequest {
  /** Model id as sent. */
  readonly model: string;
  readonly stream: boolean;
  /** Instructions; "" when there are none. */
  readonly system: string;
  readonly turns: readonly Turn[];
  /** Cap on output tokens. */
  readonly maxTokens: number | undefined;
  /** Sampling temperature, on the scale of the format it came in. */
  readonly temperature: number | undefined;
  /** Nucleus sampling. */
  readonly topP: number | undefined;
  readonly stops: readonly string[];
  /** Tools that the request offers. */
  readonly tools: readonly Tool[];
  /** Which tool must be called: `auto`, `any`, `none`, or a name after `tool:`. */
  readonly choice: string | undefined;
  /** False when parallel calls are forbidden. */
  readonly parallel: boolean;
  /** Chat: a usage chunk was requested. */
  readonly usageAsked: boolean;
  /** The user id that the client sent. */
  readonly user: string | undefined;
  /** Responses: the body, with the items of earlier replies. */
  readonly asked?: JsonObject;
  /** Members of the body that only one format has, by the dialect of that format. */
  readonly own: Readonly<Partial<Record<DialectName, JsonObject>>>;
}

/** A problem, as it is reported to the client. */
export interface Problem {
  readonly status: number;
  /** The message format's error type. */
  readonly type: string;
  readonly message: string;
  /** Chat: the error code. */
  readonly code?: string;
  /** Chat: the wrong field. */
  readonly param?: string;
  /** Value of `retry-after`. */
  readonly retryAfter?: string;
  /** Fields of the upstream's error beside its message, for clients of the upstream's format. */
  readonly own?: JsonObject;
}

export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** The refusal of a request with a wrong field. */
export function invalid(param: string, why: string): Refused {
  return new Refused({
    status: 400,
    type: "invalid_request_error",
    message: `${param}: ${why}`,
    param,
  });
}
