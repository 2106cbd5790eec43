/**
 * What each client format's replies must fit: the types that the official libraries declare, and
 * the deliberate differences from them.
 */
import { pathToFileURL } from "node:url";
import { ANTHROPIC_FOLDER } from "../../packages/anthropic.ts";
import { OPENAI_FOLDER } from "../../packages/openai.ts";
import { type Declaration, declaredTypes } from "./declared_types.ts";
import { GENAI_VERSION } from "../clients/genai_version.ts";
import { packedLibrary } from "../clients/packed_library.ts";

const anthropic = (module: string, type: string): Declaration => ({
  library: ANTHROPIC_FOLDER,
  module: `resources/${module}.js`,
  type,
});
const openai = (module: string, type: string): Declaration => ({
  library: OPENAI_FOLDER,
  module: `resources/${module}.js`,
  type,
});
const unpacked = pathToFileURL(`${await Deno.makeTempDir()}/`);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(unpacked, { recursive: true });
});
const GENAI_FOLDER = await packedLibrary(
  `@google/genai@${GENAI_VERSION}`,
  unpacked,
);
const genai = (type: string): Declaration => ({
  library: GENAI_FOLDER,
  module: "dist/genai.js",
  type,
});
const MESSAGES = "messages/messages";
const COMPLETIONS = "chat/completions/completions";

const DECLARED = {
  message: anthropic(MESSAGES, "Message"),
  messageEvent: anthropic(MESSAGES, "RawMessageStreamEvent"),
  messageCount: anthropic(MESSAGES, "MessageTokensCount"),
  messageError: anthropic("shared", "ErrorResponse"),
  messageModel: anthropic("models", "ModelInfo"),
  betaMessage: anthropic(`beta/${MESSAGES}`, "BetaMessage"),
  betaMessageEvent: anthropic(`beta/${MESSAGES}`, "BetaRawMessageStreamEvent"),
  betaMessageCount: anthropic(`beta/${MESSAGES}`, "BetaMessageTokensCount"),
  betaMessageModel: anthropic("beta/models", "BetaModelInfo"),
  completion: openai(COMPLETIONS, "ChatCompletion"),
  chunk: openai(COMPLETIONS, "ChatCompletionChunk"),
  response: openai("responses/responses", "Response"),
  responseEvent: openai("responses/responses", "ResponseStreamEvent"),
  responseItems: openai("responses/input-items", "ResponseItemList"),
  openaiError: openai("shared", "ErrorObject"),
  openaiModel: openai("models", "Model"),
  generated: genai("GenerateContentResponse"),
  generatedCount: genai("CountTokensResponse"),
};

/** A declared type that replies are held to. */
export type ReplyType = keyof typeof DECLARED;

/** A deliberate difference: it holds where both patterns match. */
interface Kept {
  readonly types: RegExp;
  /** The path and the statement of a difference, with a space between. */
  readonly difference: RegExp;
  readonly reason: string;
}

const KEPT: readonly Kept[] = [
  {
    types:
      /^(?:message|messageEvent|betaMessage|betaMessageEvent|completion|chunk|response|responseEvent)$/,
    difference: /\bextra_content is not declared$/,
    reason:
      "the signature of another format's call or text: clients send unknown fields back, and the upstream wants it",
  },
  {
    types: /^(?:message|messageEvent|messageCount)$/,
    difference:
      /\b(?:context_management|fallback_credit|iterations|estimated_tokens) is not declared$/,
    reason:
      "required by the beta types of the same library, which calls the same address",
  },
  {
    types: /essageEvent$/,
    difference: /^usage\.cache_creation is not declared$/,
    reason:
      "declared for a stream's start, but other formats report the lives of cache writes at its end",
  },
  {
    types: /^chunk$/,
    difference: /\.delta\.annotations is not declared$/,
    reason: "declared for whole replies; vendors that search stream it so",
  },
  {
    types: /^(?:completion|chunk)$/,
    difference: /\.cache_write_tokens_details is not declared$/,
    reason: "the lives of cache writes, as the Responses format declares them",
  },
  {
    types: /^(?:completion|chunk)$/,
    difference: /\.reasoning_(?:content|details) is not declared$/,
    reason: "the format has no reasoning; these are the vendors' common names",
  },
  {
    types: /^response/,
    difference:
      /^(?:response\.)?(?:frequency_penalty|presence_penalty|store) is not declared$/,
    reason: "required by Open Responses, and in the vendor's own replies",
  },
  {
    types: /^response/,
    difference: /^(?:response\.)?output_text lacks$/,
    reason: "made by the library; not on the wire",
  },
  {
    types: /^response/,
    difference: /\b(?:output\[\]|item)\.status is not declared$/,
    reason: "of free-text calls; in the vendor's own replies",
  },
  {
    types: /^responseEvent$/,
    difference: /^error is not declared$/,
    reason: "some clients read an error's fields there, others beside the type",
  },
  {
    types: /^responseEvent$/,
    difference: /^response\.error\.code is "/,
    reason:
      "agents act on the codes that the vendor's errors have; the declaration lists those of images and policies",
  },
  {
    types: /^(?:openaiError|responseEvent)$/,
    difference:
      /^(?:response\.error\.)?(?:failed_generation|status_code) is not declared$/,
    reason: "an upstream's own fields, which clients of its formats receive",
  },
  {
    types: /^messageError$/,
    difference: /^error\.(?:code|param) is not declared$/,
    reason: "the gateway's own reason, and the field at fault",
  },
  {
    types: /^messageError$/,
    difference: /^error is of type "request_too_large"$/,
    reason: "the documented type of status 413",
  },
  {
    types: /Model$/,
    difference: / is not declared$/,
    reason: "one object for the libraries of both formats",
  },
  {
    types: /^generatedCount$/,
    difference: /^promptTokensDetails is not declared$/,
    reason: "documented for the vendor's own replies",
  },
  {
    types: /^responseEvent$/,
    difference: /^response\.usage is null$/,
    reason:
      "required by Open Responses before the end, and in the vendor's own replies",
  },
];

const differencesFrom = declaredTypes(DECLARED);

interface ReplyJudge {
  /** Compares one value with its types. `from` names its source. */
  judge(types: readonly ReplyType[], value: unknown, from: string): void;
  /** The differences since the last call that are not allowed: where first seen, how often. */
  differences(): readonly string[];
  /** The reasons that no value needed. */
  unused(): readonly string[];
  /** How many values were compared with how many types. */
  compared(): number;
}

export function replyJudge(): ReplyJudge {
  const found = new Map<string, { readonly from: string; count: number }>();
  const needed = new Set<Kept>();
  let compared = 0;
  return {
    judge(types, value, from) {
      for (const type of types) {
        compared++;
        const words = differencesFrom(type, value).map(({ path, says }) =>
          `${path} ${says}`
        );
        for (const difference of new Set(words)) {
          const kept = KEPT.find((one) =>
            one.types.test(type) && one.difference.test(difference)
          );
          if (kept !== undefined) {
            needed.add(kept);
            continue;
          }
          const seen = found.get(`${type}: ${difference}`);
          if (seen !== undefined) seen.count++;
          else found.set(`${type}: ${difference}`, { from, count: 1 });
        }
      }
    },
    differences() {
      const seen = [...found].map(([difference, { from, count }]) =>
        `${difference} (${count} times, first in ${from})`
      );
      found.clear();
      return seen.sort();
    },
    unused: () =>
      KEPT.filter((one) => !needed.has(one)).map(({ reason }) => reason),
    compared: () => compared,
  };
}
