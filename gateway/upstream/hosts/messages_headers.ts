import type { BodyEdits } from "../../../translate/body_edits.ts";

/** What hosts that Anthropic manages take as headers, and the versions that they know. */
export const MESSAGES_HEADERS: BodyEdits = {
  version: {
    in: "header",
    own: "2023-06-01",
    knows: ["2023-06-01", "2026-10-21"],
  },
  profile: "header",
};
