/** Scenarios of the area `generate_content`: replies. */
import { EXTRA_SCENARIOS } from "../replies/scenarios_extras.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import type { JsonObject } from "@model-gateway/replay/json";
import {
  contentCost,
  type ContentForm,
  contents,
  MOST_TOKENS,
  sendContents,
} from "../../suite/content_requests.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session } from "../../suite/session.ts";
import { PACE_SCENARIOS } from "../replies/scenarios_pace.ts";
import { GENERATE_CONTENT_MODEL_SCENARIOS } from "./scenarios_models.ts";
import { GENERATE_CONTENT_REFUSAL_SCENARIOS } from "./scenarios_refusals.ts";
import { GENERATE_CONTENT_REQUEST_SCENARIOS } from "./scenarios_requests.ts";

/** Fixtures of every kind of part, for the rules of form. */
const KINDS = ["text", "thinking-tool", "tool-parallel", "max-tokens"];

/** Names of ordinary replies of a real model: two, so that their ids can be compared. */
const LIVE = ["text", "max-tokens"];

const CONTENTS = [
  "text-tool-text",
  "tool-no-args",
  "tool-unicode-args",
  "tool-interleaved",
  "text-unicode",
  "text-blanks",
  "thinking",
  "cache-usage",
  "reasoning-usage",
  "stop-sequence",
  "refusal",
  "content-filter",
  "empty",
];

/** Fixtures that end before they are complete, or for a reason of their own. */
export const INCOMPLETE = ["context-window", "continuation"];

/** Fixtures without any content, whose candidates vendors leave empty. */
export const WITHOUT_CONTENT = ["blocked", "refusal", "empty"];

function fixtureBodies(
  session: Session,
  names: readonly string[],
): Record<string, () => JsonObject> {
  return Object.fromEntries(names.map((name) => [
    name,
    () => ({
      // Equal requests may be answered with one reply, from a cache or a simple upstream.
      ...contents(session.prompt(name, `Say something, as in ${name}.`)),
      ...toolsOf(name),
      ...thoughtsOf(name),
    }),
  ]));
}

/** Where no tools are called, the format has thoughts only for clients that ask for them. */
function thoughtsOf(fixture: string): JsonObject {
  const { thinking = "", tools = [] } = WRITTEN.get(fixture)?.content ?? {};
  return thinking === "" || tools.length > 0 ? {} : {
    generationConfig: {
      maxOutputTokens: MOST_TOKENS,
      thinkingConfig: { includeThoughts: true },
    },
  };
}

function toolsOf(fixture: string): JsonObject {
  const names = new Set(
    (WRITTEN.get(fixture)?.content.tools ?? []).map(({ name }) => name),
  );
  return names.size === 0 ? {} : {
    tools: [{
      functionDeclarations: [...names].map((name) => ({
        name,
        description: "A function.",
        parametersJsonSchema: { type: "object", properties: {} },
      })),
    }],
  };
}

function played(
  scenario: Pick<Scenario, "name" | "about">,
  names: readonly string[],
  forms?: readonly ContentForm[],
): Scenario {
  return {
    ...scenario,
    mode: "replay",
    cost: contentCost(3 * names.length),
    play: (session) =>
      sendContents(session, fixtureBodies(session, names), forms),
  };
}

export const GENERATE_CONTENT_SCENARIOS: readonly Scenario[] = [
  {
    name: "generate-content-replies",
    about: "Replies of the generate-content format in all three forms",
    mode: "both",
    cost: contentCost(3 * LIVE.length),
    play: (session) =>
      sendContents(
        session,
        fixtureBodies(session, session.mode === "live" ? LIVE : KINDS),
      ),
  },
  played({
    name: "generate-content-contents",
    about: "Replies whose content is known",
  }, CONTENTS),
  played({
    name: "generate-content-ends",
    about: "Replies that are incomplete, and a prompt that is blocked",
  }, [...INCOMPLETE, "blocked"]),
  played(
    { name: "generate-content-long", about: "Streams of a long text" },
    ["text-long"],
    ["stream", "array"],
  ),
  PACE_SCENARIOS.generate_content,
  EXTRA_SCENARIOS.generate_content,
  ...GENERATE_CONTENT_REQUEST_SCENARIOS,
  ...GENERATE_CONTENT_REFUSAL_SCENARIOS,
  ...GENERATE_CONTENT_MODEL_SCENARIOS,
];
