/**
 * The probabilities of a reply's tokens, as `logprobsResult` of a candidate.
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

/** Reads the probabilities of a candidate; entries without a token or a number are left out. */
export function decodeLogprobs(result: unknown): readonly TokenProbability[] {
  if (!isObject(result)) return [];
  const likeliest = arrayOr(result["topCandidates"]);
  return arrayOr(result["chosenCandidates"]).flatMap((chosen, place) =>
    entryIn(chosen).map((entry) => ({
      ...entry,
      likeliest: arrayOr(objectOr(likeliest[place])["candidates"])
        .flatMap(entryIn),
    }))
  );
}

/** Writes the probabilities of a candidate. */
export function encodeLogprobs(
  tokens: readonly TokenProbability[],
): JsonObject {
  const hasLikeliest = tokens.some(({ likeliest }) => likeliest.length > 0);
  return {
    chosenCandidates: tokens.map(encodeEntry),
    ...(hasLikeliest
      ? {
        topCandidates: tokens.map(({ likeliest }) => ({
          candidates: likeliest.map(encodeEntry),
        })),
      }
      : {}),
  };
}

function entryIn(value: unknown): readonly Entry[] {
  const { token, logProbability } = objectOr(value);
  const text = stringIn(token);
  return text === undefined || typeof logProbability !== "number"
    ? []
    : [{ token: text, logprob: logProbability }];
}

function encodeEntry({ token, logprob }: Entry): JsonObject {
  return { token, logProbability: logprob };
}
