/** The golden gateway's own words for a request and a reply: small, and unlike any of the formats. */
import type { Dialect } from "../replay/call.ts";
import type { Json, JsonObject } from "../replay/json.ts";
import type { SaidUsage, StopCause } from "../replay/said.ts";

/** A piece of a reply, in order of arrival. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "signature"; readonly value: string }
  | { readonly type: "redacted"; readonly data: string }
  | {
    readonly type: "tool";
    readonly call: number;
    readonly id: string;
    readonly name: string;
  }
  | { readonly type: "args"; readonly call: number; readonly text: string }
  | { readonly type: "usage"; readonly usage: Partial<SaidUsage> }
  | {
    readonly type: "stop";
    readonly cause: StopCause;
    readonly sequence?: string;
  }
  | { readonly type: "failed"; readonly problem: Problem };

/** A part of a turn. */
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
  }
  | {
    readonly type: "result";
    readonly id: string;
    readonly text: string;
    readonly failed?: boolean;
  }
  | { readonly type: "kept"; readonly block: JsonObject };

/** A turn of the conversation. */
export interface Turn {
  /** Who speaks. */
  readonly role: "user" | "assistant";
  /** What is said. */
  readonly parts: readonly TurnPart[];
}

/** A tool on offer. */
export interface Tool {
  /** Its name. */
  readonly name: string;
  /** Its description. */
  readonly about: string | undefined;
  /** JSON schema of its arguments. */
  readonly schema: Json;
}

/** What a request asks for. */
export interface Ask {
  /** Model id as sent. */
  readonly model: string;
  /** True when a stream is wanted. */
  readonly stream: boolean;
  /** Instructions; "" when there are none. */
  readonly system: string;
  /** The conversation. */
  readonly turns: readonly Turn[];
  /** Cap on output tokens. */
  readonly maxTokens: number | undefined;
  /** Sampling temperature, on the scale of the format it came in. */
  readonly temperature: number | undefined;
  /** Nucleus sampling. */
  readonly topP: number | undefined;
  /** Stop strings. */
  readonly stops: readonly string[];
  /** Tools on offer. */
  readonly tools: readonly Tool[];
  /** Which tool must be called: `auto`, `any`, `none`, or a name after `tool:`. */
  readonly choice: string | undefined;
  /** False when calls may not be parallel. */
  readonly parallel: boolean;
  /** Chat: a usage chunk was asked for. */
  readonly usageAsked: boolean;
  /** The caller's own attribution. */
  readonly user: string | undefined;
  /** Members of the body that only one format has, by the dialect that has them. */
  readonly own: Readonly<Partial<Record<Dialect, JsonObject>>>;
}

/** Something that went wrong, as it is told to the caller. */
export interface Problem {
  /** HTTP status. */
  readonly status: number;
  /** The message format's name for it. */
  readonly type: string;
  /** In words. */
  readonly message: string;
  /** Chat: the code. */
  readonly code?: string;
  /** Chat: the field at fault. */
  readonly param?: string;
  /** Value of `retry-after`. */
  readonly retryAfter?: string;
}

/** Thrown where a request cannot go on. */
export class Refused extends Error {
  /** What to tell the caller. */
  readonly problem: Problem;
  /** Refuses with a problem. */
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Refuses a request whose field is wrong. */
export function invalid(param: string, why: string): Refused {
  return new Refused({
    status: 400,
    type: "invalid_request_error",
    message: `${param}: ${why}`,
    param,
  });
}
