/**
 * Capabilities of two generations of models, and an encode context, for this folder's tests only.
 */
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../model/capabilities.ts";
import type { EncodeContext } from "../../dialect.ts";

/** A model with a reasoning budget. */
export const BUDGET: Capabilities = DEFAULT_CAPABILITIES.messages;

/** A newer model: adaptive reasoning, no sampling, no prefill, system turns anywhere. */
export const ADAPTIVE: Capabilities = {
  ...BUDGET,
  reasoning: "adaptive",
  efforts: ["low", "medium", "high", "max"],
  sampling: "none",
  prefill: false,
  systemAnywhere: true,
};

export const ENCODE_CONTEXT: EncodeContext = {
  model: "asked-for",
  created: 1,
  idSeed: "0123456789abcdefghijABCD",
  wantUsage: false,
  legacyFunctions: false,
  inputEstimate: 7,
};
