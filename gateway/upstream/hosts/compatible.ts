/**
 * Any host of the chat-completion format: its address is in the configuration file, its habits are
 * in a preset (`presets.ts`).
 */
import type { Host } from "./host.ts";
import { OPEN_WEIGHTS } from "./model_rules.ts";

/** The row of hosts that the configuration file describes. */
export const OPENAI_COMPATIBLE: Host = {
  kind: "openai_compatible",
  dialects: [{
    dialect: "chat_completions",
    whole: "/chat/completions",
    embeddings: { path: "/embeddings", form: "chat" },
    auth: { schemes: ["bearer", "none"] },
    errors: "compatible",
    // Every host knows `system`.
    capabilities: { developerRole: false },
    modelRules: OPEN_WEIGHTS,
  }],
};
