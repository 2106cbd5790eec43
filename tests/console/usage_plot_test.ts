/** The plot of the usage: what it shows, for which time, and the values of its bars. */
import assert from "node:assert/strict";
import {
  credentialOf,
  startConsole,
  visit,
} from "../support/console_visitor.ts";

Deno.test("the plot shows cost, tokens or charges, by hour of short ranges, with each series' value", async () => {
  const gateway = await startConsole();
  try {
    const key = await credentialOf(gateway, "key");
    const models = ["vendora-opus-4-8", "vendorb-5.5", "vendorb-5.5"];
    for (const model of models) {
      const reply = await gateway.post("/v1/messages", {
        model,
        max_tokens: 10,
        messages: [{ role: "user", content: "Hello" }],
      }, { "x-api-key": key.text });
      await reply.text();
    }
    await gateway.accounts.flush();
    const owner = await visit(
      gateway.url,
      "read",
      (await credentialOf(gateway, "read")).text,
    );
    const get = async (path: string): Promise<string> => {
      const reply = await owner.get(path);
      const text = await reply.text();
      assert.equal(reply.status, 200, text);
      return text.replaceAll("&amp;", "&");
    };
    const page = await get("/console/usage");
    const ranges = [
      ...page.matchAll(
        /<a href="(\/console\/usage\?[^"]+)"[^>]*>([^<]+)<\/a>/g,
      ),
    ].map(([, href = "", name = ""]) => [name, href] as const);
    const today = ranges.find(([name]) => name === "Today")?.[1] ?? "";
    for (
      const name of ["7 d", "30 d", "This month", "Last month", "Tokens"]
    ) assert.ok(ranges.some(([one]) => one === name), name);
    assert.match(page, /aria-label="Cost by day in dollars"/);
    const tokens = await get(today.replace("show=cost", "show=charges"));
    assert.match(tokens, /aria-label="Charges by hour"/);
    assert.match(
      tokens,
      /aria-label="[\d-]+ \d\d:00: 3; vendor[ab][^,]+ [12], vendor[ab][^,]+ [12]"/,
    );
    const wrong = await owner.get("/console/usage?show=taste");
    assert.match(await wrong.text(), /show: must be cost, tokens, charges/i);
  } finally {
    await gateway.close();
  }
});
