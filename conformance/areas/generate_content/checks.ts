/** Checks of the area `generate_content`: replies in all three forms, requests, keys and models. */
import type { Check } from "../../suite/check.ts";
import { checksOfEvery } from "../replies/checks.ts";
import { GENERATE_CONTENT_ANSWER_CHECKS } from "./checks_answer.ts";
import { GENERATE_CONTENT_CONVERSATION_CHECKS } from "./checks_conversation.ts";
import { GENERATE_CONTENT_END_CHECKS } from "./checks_end.ts";
import { EVERY_OBJECT_CHECKS } from "./checks_every_object.ts";
import { GENERATE_CONTENT_FUNCTIONS_CHECKS } from "./checks_functions.ts";
import { GENERATE_CONTENT_KEYS_CHECKS } from "./checks_keys.ts";
import { GENERATE_CONTENT_MODEL_CHECKS } from "./checks_models.ts";
import { GENERATE_CONTENT_REFUSAL_CHECKS } from "./checks_refusals.ts";
import { GENERATE_CONTENT_SETTINGS_CHECKS } from "./checks_settings.ts";
import { GENERATE_CONTENT_SHAPE_CHECKS } from "./checks_shape.ts";
import { GENERATE_CONTENT_STREAM_CHECKS } from "./checks_stream.ts";
import { GENERATE_CONTENT_USAGE_CHECKS } from "./checks_usage.ts";

/** Applies a rule to replies that a real model seldom gives, too. */
function alsoRare(
  checks: readonly Check[],
  id: string,
): readonly Check[] {
  return checks.flatMap((check) =>
    check.id === id
      ? [check, {
        ...check,
        id: `${id}-rare`,
        mode: "replay",
        reads: [
          "generate-content-contents",
          "generate-content-ends",
          "generate-content-long",
        ],
      }]
      : [check]
  );
}

export const GENERATE_CONTENT_CHECKS: readonly Check[] = [
  ...checksOfEvery("generate_content_reply"),
  ...checksOfEvery("generate_content_stream"),
  ...checksOfEvery("generate_content_array"),
  ...checksOfEvery("generate_content"),
  ...alsoRare(GENERATE_CONTENT_SHAPE_CHECKS, "generate_content.parts"),
  ...GENERATE_CONTENT_USAGE_CHECKS,
  ...GENERATE_CONTENT_ANSWER_CHECKS,
  ...GENERATE_CONTENT_END_CHECKS,
  ...alsoRare(GENERATE_CONTENT_STREAM_CHECKS, "generate_content.frames"),
  ...GENERATE_CONTENT_CONVERSATION_CHECKS,
  ...GENERATE_CONTENT_SETTINGS_CHECKS,
  ...GENERATE_CONTENT_FUNCTIONS_CHECKS,
  ...GENERATE_CONTENT_KEYS_CHECKS,
  ...GENERATE_CONTENT_REFUSAL_CHECKS,
  ...GENERATE_CONTENT_MODEL_CHECKS,
  ...EVERY_OBJECT_CHECKS,
];
