/**
 * The probabilities of a reply's tokens, as `logprobs` of a choice.
 */
import {
  arrayOr,
  isObject,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import type { TokenProbability } from "../../model/token_probability.ts";

type Entry = Omit<TokenProbability, "likeliest">;

/** Reads the probabilities of a choice; entries without a token or a number are left out. */
export function decodeLogprobs(logprobs: unknown): readonly TokenProbability[] {
  if (!isObject(logprobs)) return [];
  return arrayOr(logprobs["content"]).flatMap((one) =>
    entryIn(one).map((entry) => ({
      ...entry,
      likeliest: arrayOr(objectOr(one)["top_logprobs"]).flatMap(entryIn),
    }))
  );
}

/** Writes the probabilities of a choice. */
export function encodeLogprobs(
  tokens: readonly TokenProbability[],
): JsonObject {
  return {
    content: tokens.map((one) => ({
      ...encodeEntry(one),
      top_logprobs: one.likeliest.map(encodeEntry),
    })),
    refusal: null,
  };
}

function entryIn(value: unknown): readonly Entry[] {
  const { token, logprob } = objectOr(value);
  const text = stringIn(token);
  return text === undefined || typeof logprob !== "number"
    ? []
    : [{ token: text, logprob }];
}

/** The bytes of a token are unknown: its text may be a part of a character. */
function encodeEntry({ token, logprob }: Entry): JsonObject {
  return { token, logprob, bytes: null };
}
