import assert from "node:assert/strict";
import { HOST_KINDS } from "../upstream/hosts/hosts.ts";
import { providerName } from "./provider_name.ts";

Deno.test("providerName() has the conventions' word for every host, and a compatible host's own name", () => {
  for (const kind of HOST_KINDS) {
    assert.match(providerName({ name: "house", kind }), /^[a-z._]+$/, kind);
  }
  const compatible = (name: string) =>
    providerName({ name, kind: "openai_compatible" });
  assert.equal(compatible("groq"), "groq");
  assert.equal(compatible("mistral"), "mistral_ai");
  const bedrock = providerName({ name: "eu", kind: "bedrock_converse" });
  assert.equal(bedrock, "aws.bedrock");
  assert.equal(providerName(undefined), "_OTHER");
});
