import type { EncodeContext } from "../dialect.ts";

/** A request for model `m` that wants neither usage nor legacy functions. */
export const ENCODE_CONTEXT: EncodeContext = {
  model: "m",
  created: 1_780_000_000,
  idSeed: "0123456789abcdefghijABCD",
  wantUsage: false,
  legacyFunctions: false,
  inputEstimate: 7,
};
