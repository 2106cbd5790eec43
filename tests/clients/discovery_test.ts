/**
 * The model discovery of Claude Code, as version 2.1.330 sends it, with the aliases of
 * docs/clients.md.
 */
import assert from "node:assert/strict";
import { arrayOr, objectOr } from "../../translate/bytes/json.ts";
import { startTestGateway, TEST_KEY } from "../support/test_gateway.ts";

const PAGE = new URL("../../docs/clients.md", import.meta.url);

/** The configuration in the section on Claude Code. */
async function documentedAliases(): Promise<string> {
  const page = await Deno.readTextFile(PAGE);
  const section = page.slice(page.indexOf("## Claude Code"));
  return /^```json\n([^]*?)^```$/m.exec(section)?.[1] ??
    assert.fail("no example");
}

/** What it sends: one of these credentials, and no other header of its own. */
const CREDENTIALS: readonly Readonly<Record<string, string>>[] = [
  { authorization: `Bearer ${TEST_KEY}` },
  { "x-api-key": TEST_KEY },
  { authorization: `Bearer ${TEST_KEY}`, "x-api-key": TEST_KEY },
];

Deno.test("the documented aliases are what a coding agent's discovery keeps, and they can be called", async () => {
  const configFile = await documentedAliases();
  const aliases = Object.keys(objectOr(JSON.parse(configFile).models));
  assert.equal(aliases.length, 2);
  await using gateway = await startTestGateway({
    configFile,
  });
  for (const headers of CREDENTIALS) {
    const reply = await fetch(`${gateway.url}/v1/models?limit=1000`, {
      headers: {
        ...headers,
        "anthropic-version": "2023-06-01",
        "user-agent": "claude-code/2.1.330",
      },
      redirect: "error",
    });
    assert.equal(reply.status, 200);
    const { data, has_more } = objectOr(await reply.json());
    assert.equal(has_more, false);
    const kept = arrayOr(data).map(objectOr).filter(({ id }) =>
      /^(?:claude|anthropic)/.test(String(id))
    );
    assert.deepEqual(kept.map(({ id }) => id).toSorted(), aliases.toSorted());
    for (const { display_name } of kept) {
      assert.equal(typeof display_name, "string");
    }
  }
  for (const model of aliases) {
    const reply = await gateway.post("/v1/messages?beta=true", {
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi" }],
    }, {
      "x-claude-code-session-id": "s-1",
      "x-claude-code-agent-id": "a-1",
      "x-claude-code-parent-agent-id": "a-0",
    });
    assert.equal(reply.status, 200);
    assert.equal(objectOr(await reply.json())["model"], model);
  }
});
