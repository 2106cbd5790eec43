/**
 * The probabilities of a reply's tokens, as the chat and the Responses formats list them.
 */
import {
  arrayOr,
  type JsonObject,
  objectOr,
  stringIn,
} from "../../bytes/json.ts";
import type { TokenProbability } from "../../model/token_probability.ts";

type Entry = Omit<TokenProbability, "likeliest">;

/** Reads a list of tokens; entries without a token or a number are left out. */
export function decodeLogprobs(list: unknown): readonly TokenProbability[] {
  return arrayOr(list).flatMap((one) =>
    entryIn(one).map((entry) => ({
      ...entry,
      likeliest: arrayOr(objectOr(one)["top_logprobs"]).flatMap(entryIn),
    }))
  );
}

/** Writes tokens. `unknownBytes`: the format's value for bytes that the upstream did not send. */
export function encodeLogprobs(
  tokens: readonly TokenProbability[],
  unknownBytes: null | readonly number[],
): readonly JsonObject[] {
  // The text of a token may be a part of a character, so its bytes do not follow from it.
  const encode = ({ token, logprob, bytes }: Entry): JsonObject => ({
    token,
    logprob,
    bytes: bytes ?? unknownBytes,
  });
  return tokens.map((one) => ({
    ...encode(one),
    top_logprobs: one.likeliest.map(encode),
  }));
}

function entryIn(value: unknown): readonly Entry[] {
  const { token, logprob, bytes } = objectOr(value);
  const text = stringIn(token);
  if (text === undefined || typeof logprob !== "number") return [];
  const given = arrayOr(bytes).filter((byte) => typeof byte === "number");
  return [{
    token: text,
    logprob,
    ...(given.length === 0 ? {} : { bytes: given }),
  }];
}
