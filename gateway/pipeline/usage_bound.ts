/**
 * The most tokens that a call can have used, from what was sent. High enough that no honest reply
 * reaches it: `deno test -A gateway/pipeline/usage_bound_test.ts` compares it with every recording.
 */
import type { GenerationRequest, Part } from "../../translate/model/request.ts";
import type { UsageBound } from "../accounts/charges/usage_bound.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";

/**
 * Tokens that vendors add unseen, such as instructions for tools and formats; as many are allowed
 * beyond a limit of the reply, which some models overrun.
 */
const UNSEEN = 32_768;
/** The longest context that vendors sell for their models; a beta may extend the catalogue's. */
const LONG_CONTEXT = 1_048_576;
/** The longest reply of a model whose own is not known. */
const LONG_REPLY = 131_072;
/** Steps of a vendor's own loop in one call; each reads the conversation and what was found. */
const STEPS = 32;

/** Settings that cause no tokens of their own. */
const WITHOUT_TOKENS: ReadonlySet<string> = new Set([
  "cache_control",
  "include",
  "labels",
  "metadata",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safetySettings",
  "safety_identifier",
  "store",
  "verbosity",
]);

/** What a request allows its upstream to use. */
interface Allowance {
  /**
   * `media`: content that is longer in tokens than in bytes; `steps`: tools that the vendor runs,
   * and fields that are not known.
   */
  readonly kind: "text" | "media" | "steps";
  /** The client's limit of the reply; absent: none. */
  readonly maxTokens?: number;
  /** Number of replies that the client asked for. */
  readonly replyCount: number;
}

/**
 * The bound of a call as a function of the candidate that replied and of the length of the body
 * that it received: a token has at least one byte. It keeps nothing of the request.
 */
export function usageBoundOf(
  request: GenerationRequest,
): (candidate: BoundingCandidate, sentBytes: number) => UsageBound {
  const { maxTokens, replyCount = 1 } = request;
  const allowance: Allowance = {
    kind: kindOf(request),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    replyCount,
  };
  return (candidate, sentBytes) => boundOf(allowance, candidate, sentBytes);
}

/** The parts of a candidate that the bound depends on. */
export type BoundingCandidate =
  & Pick<Candidate, "capabilities" | "servesOneVendor">
  & { readonly model: Pick<Candidate["model"], "contextTokens"> };

function boundOf(
  { kind, maxTokens, replyCount }: Allowance,
  { model, capabilities, servesOneVendor }: BoundingCandidate,
  sentBytes: number,
): UsageBound {
  const context = Math.max(model.contextTokens, LONG_CONTEXT);
  const longest = capabilities.maxOutputTokens ?? LONG_REPLY;
  const steps = kind === "steps" ? STEPS : 1;
  // Other hosts may search, or add a prompt of their own, without being asked.
  const unseen = kind === "text" && servesOneVendor ? UNSEEN : context;
  const limit = Math.min(
    maxTokens ?? longest,
    Math.max(longest, LONG_REPLY),
  );
  // Other hosts' limits may leave out the reasoning.
  const beyond = servesOneVendor ? UNSEEN : Math.max(longest, LONG_REPLY);
  return {
    input: steps * replyCount * (sentBytes + unseen),
    output: steps * replyCount * (limit + beyond),
  };
}

function kindOf(request: GenerationRequest): Allowance["kind"] {
  if (
    request.refusal !== undefined || request.essential.length > 0 ||
    request.tools?.some(({ type }) => type !== "function") === true ||
    request.unknownFields.some((path) =>
      !WITHOUT_TOKENS.has(path) && !/[.[]/.test(path)
    )
  ) return "steps";
  return request.turns.some(({ parts }) => parts.some(isMedia))
    ? "media"
    : "text";
}

function isMedia(part: Part): boolean {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
    case "tool_call":
      return false;
    case "tool_result":
      return part.content.some(isMedia);
    case "document":
      return part.source.type !== "text";
    case "image":
    case "audio":
    case "opaque":
      return true;
  }
}
