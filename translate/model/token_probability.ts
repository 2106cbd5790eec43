/** A token and the natural logarithm of its probability. */
export interface TokenProbability {
  readonly token: string;
  readonly logprob: number;
  /** Its bytes in UTF-8; absent where the upstream does not send them. */
  readonly bytes?: readonly number[];
  /** The likeliest tokens at its place; empty where none were asked for. */
  readonly likeliest: readonly Omit<TokenProbability, "likeliest">[];
}
