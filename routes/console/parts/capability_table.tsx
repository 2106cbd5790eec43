/**
 * What a model takes, in words: a line for each capability that callers can notice.
 */
import type { JSX } from "../jsx.d.ts";
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import { DataTable } from "./data_table.tsx";
import { countText } from "./money.tsx";

/** How requests are written for one upstream, which no caller notices. */
type Inner =
  | "maxTokensField"
  | "efforts"
  | "maxReasoningBudget"
  | "replayReasoning"
  | "reasoningBesideCalls"
  | "takesReasoning"
  | "proofFields"
  | "signedCalls"
  | "userAfterTool"
  | "developerRole"
  | "cacheWord"
  | "thinkingKinds"
  | "callIdForm"
  | "cachedBesidePrompt"
  | "promptCaching"
  | "schema"
  | "alwaysCapped"
  | "reasoningTags"
  | "thinkTags"
  | "callIds"
  | "includeUsage";

type Shown = Exclude<keyof Capabilities, Inner>;

function yes(value: boolean): string {
  return value ? "yes" : "no";
}

function tokens(value: number): string {
  return `${countText(value)} ${value === 1 ? "token" : "tokens"}`;
}

function letters(value: number): string {
  return value === Infinity ? "any length" : `${countText(value)} characters`;
}

function reasoningText(
  { reasoning, efforts, maxReasoningBudget }: Capabilities,
): string {
  if (reasoning === "none") return "no";
  if (reasoning === "budget") {
    return `by a budget of at most ${tokens(maxReasoningBudget)}`;
  }
  const by = reasoning === "adaptive" ? "adaptive, by effort" : "by effort";
  return efforts.length === 0 ? by : `${by}: ${efforts.join(", ")}`;
}

type Line = readonly [title: string, words: (all: Capabilities) => string];

const LINES: Readonly<Record<Shown, Line>> = {
  reasoning: ["Reasoning", reasoningText],
  reasoningOff: [
    "Reasoning can be switched off",
    (all) => all.reasoning === "none" ? "–" : yes(all.reasoningOff),
  ],
  encryptedReasoning: [
    "Encrypted reasoning",
    (all) => yes(all.encryptedReasoning),
  ],
  maxOutputTokens: [
    "Longest reply",
    ({ maxOutputTokens: most }) =>
      most === undefined ? "not known" : tokens(most),
  ],
  minOutputTokens: [
    "Smallest limit of a reply",
    (all) => tokens(all.minOutputTokens),
  ],
  defaultMaxTokens: [
    "Limit where a request needs one and has none",
    (all) => tokens(all.defaultMaxTokens),
  ],
  sampling: [
    "temperature and top_p",
    (all) =>
      ({ all: "together", one: "one of them", none: "neither" })[all.sampling],
  ],
  maxTemperature: [
    "Highest temperature",
    (all) => all.sampling === "none" ? "–" : String(all.maxTemperature),
  ],
  topK: ["top_k", (all) => yes(all.topK)],
  seed: ["Seed", (all) => yes(all.seed)],
  penalties: [
    "Presence and frequency penalties",
    (all) => yes(all.penalties),
  ],
  verbosity: ["Verbosity", (all) => yes(all.verbosity)],
  maxStops: [
    "Stop texts",
    ({ maxStops: most }) =>
      most === 0
        ? "none"
        : most === Infinity
        ? "any number"
        : `at most ${most}`,
  ],
  structuredOutput: [
    "Replies bound to a JSON schema",
    (all) => yes(all.structuredOutput),
  ],
  formatBesideTools: [
    "Replies bound to JSON beside tools",
    (all) => yes(all.formatBesideTools),
  ],
  jsonObject: [
    "Replies bound to JSON without a schema",
    (all) => yes(all.jsonObject),
  ],
  strictTools: ["Strict tools", (all) => yes(all.strictTools)],
  customTools: [
    "Tools with free text as input",
    (all) => yes(all.customTools),
  ],
  toolGroups: ["Groups of tools", (all) => yes(all.toolGroups)],
  toolChoiceRequired: [
    "A tool call can be demanded",
    (all) => yes(all.toolChoiceRequired),
  ],
  parallelToggle: [
    "Parallel calls can be switched off",
    (all) => yes(all.parallelToggle),
  ],
  webSearch: [
    "Search of the web, translated from the message format",
    (all) => yes(all.webSearch),
  ],
  maxToolName: ["Longest name of a tool", (all) => letters(all.maxToolName)],
  maxToolCallId: [
    "Longest id of a tool call",
    (all) => letters(all.maxToolCallId),
  ],
  imagesInToolResult: [
    "Images in results of tools",
    (all) => yes(all.imagesInToolResult),
  ],
  mediaUrls: ["Images and documents by URL", (all) => yes(all.mediaUrls)],
  files: ["Files", (all) => yes(all.files)],
  images: ["Pictures", (all) => yes(all.images)],
  systemAnywhere: [
    "System turns inside the conversation",
    (all) => yes(all.systemAnywhere),
  ],
  prefill: [
    "The caller can begin the reply",
    (all) => yes(all.prefill),
  ],
  threads: ["Conversations kept upstream", (all) => yes(all.threads)],
  cacheMarks: [
    "Marks of what to cache",
    (all) =>
      ({
        none: "no",
        prompt: "in system prompt and conversation",
        all: "also of tools",
      })[all.cacheMarks],
  ],
};

/** One column for each of `of`, under its name. */
export function CapabilityTable(
  { of }: { readonly of: readonly (readonly [string, Capabilities])[] },
): JSX.Element {
  return (
    <>
      <DataTable<Line>
        name="What it takes"
        rows={Object.values(LINES)}
        columns={[
          {
            name: "What",
            wraps: true,
            isFirst: true,
            cell: ([title]) => title,
          },
          ...of.map(([title, all]) => ({
            name: title,
            wraps: true,
            cell: ([, words]: Line) => words(all),
          })),
        ]}
      />
      <p class="soft">
        What passes to the upstream unchanged. The rest is translated or, where
        that cannot be done, left out and named in{" "}
        <code>x-gateway-dropped</code>.
      </p>
    </>
  );
}
