import assert from "node:assert/strict";
import { billedFields } from "./billed_fields.ts";

Deno.test("billedFields() finds what is billed beside tokens, in the client's spelling", () => {
  const found = billedFields({
    service_tier: "PRIORITY",
    billing_policy: { bill_to: "someone" },
    contents: [{
      parts: [
        { text: "x" },
        { inline_data: { mime_type: "audio/wav", data: "AAAA" } },
      ],
    }],
    tools: [{ functionDeclarations: [] }, { google_search: {} }, {
      googleMaps: {},
      codeExecution: {},
    }],
    generationConfig: {
      responseModalities: ["TEXT", "IMAGE", "audio"],
      routingConfig: { manualMode: { modelName: "dear" } },
      modelSelectionConfig: {},
    },
  });
  assert.deepEqual(
    found.map(({ path, ask }) => [path, ...Object.values(ask)]),
    [
      ["service_tier", "tier", "PRIORITY"],
      ["billing_policy", "payer"],
      ["generationConfig.responseModalities[1]", "tokens", "imageOutput"],
      ["generationConfig.responseModalities[2]", "tokens", "audioOutput"],
      ["generationConfig.routingConfig", "model", "dear"],
      ["generationConfig.modelSelectionConfig", "model", ""],
      ["tools[1].google_search", "use", "web_search"],
      ["tools[2].googleMaps", "use", "google_maps"],
      ["contents[0].parts[1].inline_data", "tokens", "audioInput"],
    ],
  );
});

Deno.test("billedFields() finds nothing in a plain request", () => {
  assert.deepEqual(
    billedFields({
      contents: [{ parts: [{ text: "x" }] }],
      generationConfig: { responseModalities: ["TEXT"] },
      tools: [{ codeExecution: {} }, { functionDeclarations: [{ name: "f" }] }],
    }),
    [],
  );
});
