/**
 * No encoder ignores a field: each optional field of a neutral request changes the request to every
 * upstream format, is reported as dropped, or is refused.
 */
import assert from "node:assert/strict";
import { upstreamDialect } from "./dialects.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import { ApiError } from "./model/error.ts";
import type { DialectName, GenerationRequest } from "./model/request.ts";
import { sampleRequest } from "./testing/sample_request.ts";
import { text } from "./testing/request_samples.ts";
import { atOnce } from "./steps.ts";

/** Fields that are no setting for the upstream, so that an encoder may ignore them. */
type OtherField =
  | "model"
  | "stream"
  | "turns"
  | "fieldNames"
  | "unknownFields"
  | "refusal"
  | "essential"
  | "cacheMarks"
  | "wantUsage"
  | "hidesReasoning"
  | "legacyFunctions";

type Settings = Omit<GenerationRequest, OtherField>;

/** A value of each field. A new field needs one: the type names all of them. */
const VALUES: Required<Settings> = {
  system: [text("Be brief.")],
  tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
  toolChoice: { type: "required" },
  parallelTools: false,
  maxTokens: 77,
  temperature: 0.3,
  topP: 0.7,
  topK: 7,
  stop: ["END"],
  format: {
    type: "schema",
    name: "s",
    schema: { type: "object", properties: {}, additionalProperties: false },
  },
  reasoning: { mode: "on", effort: "low" },
  user: "user-7",
  serviceTier: "default",
  promptCache: "1h",
  promptCacheKey: "k",
  verbosity: "low",
  replyCount: 2,
  seed: 7,
  presencePenalty: 0.5,
  frequencyPenalty: 0.5,
  logprobs: 2,
};

/** The fields that depend on tools. */
const WITH_TOOLS: ReadonlySet<string> = new Set([
  "toolChoice",
  "parallelTools",
]);

/** What an encoder makes of a request: its body and dropped fields, or its refusal. */
function encode(format: DialectName, request: GenerationRequest): string {
  try {
    const { body, dropped } = atOnce(
      upstreamDialect(format)
        .encodeRequest(request, DEFAULT_CAPABILITIES[format]),
    );
    return JSON.stringify({ body, dropped });
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.message;
  }
}

Deno.test("no encoder ignores a field of the request", async (t) => {
  const fields = Object.keys(VALUES) as (keyof Settings)[];
  for (const format of Object.keys(DEFAULT_CAPABILITIES) as DialectName[]) {
    for (const field of fields) {
      await t.step(`${format}: ${field}`, () => {
        const base = WITH_TOOLS.has(field) ? { tools: VALUES.tools } : {};
        const without = sampleRequest(base);
        const withField = sampleRequest({ ...base, [field]: VALUES[field] });
        assert.notEqual(encode(format, withField), encode(format, without));
      });
    }
  }
});
