/**
 * Capabilities of two generations of models, for this folder's tests only.
 */
import {
  type Capabilities,
  DEFAULT_CAPABILITIES,
} from "../../model/capabilities.ts";

/** A newer model: reasons by level, takes JSON Schema and ids. */
export const NEWER: Capabilities = {
  ...DEFAULT_CAPABILITIES.generate_content,
  imagesInToolResult: true,
};

/** An older model: reasons by budget, takes the OpenAPI subset and no ids. */
export const OLDER: Capabilities = {
  ...DEFAULT_CAPABILITIES.generate_content,
  reasoning: "budget",
  reasoningOff: true,
  efforts: [],
  schema: "openapi",
  callIds: false,
};
