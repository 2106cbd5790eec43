/** The plot of the usage: what it shows, for which time, and the values of its bars. */
import assert from "node:assert/strict";
import { csvRows } from "../support/console/csv_rows.ts";
import {
  credentialOf,
  startConsole,
  visitAs,
} from "../support/console/visitor.ts";

Deno.test("the plot shows sums of charges and counts of calls, by hour of short ranges, with each series' value", async () => {
  await using gateway = await startConsole();
  const key = await credentialOf(gateway, "key");
  const models = ["vendora-opus-4-8", "vendorb-5.5", "vendorb-5.5"];
  for (const model of models) {
    const reply = await gateway.call({ model }, key.text);
    await reply.text();
  }
  await gateway.recorded();
  const owner = await visitAs(gateway, "read");
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
  assert.ok(ranges.some(([name]) => name === "24 h"));
  const dayAgo = ranges.find(([name]) => name === "24 h")?.[1] ?? "";
  const last = await get(dayAgo.replace("show=cost", "show=calls"));
  assert.match(last, /aria-label="Calls by hour"/);
  assert.match(last, /aria-label="[\d-]+ \d\d:00: 3; complete 3"/);
  assert.equal(last.match(/aria-label="[\d-]+ \d\d:00: /g)?.length, 24);
  assert.match(
    await get(dayAgo.replace("show=cost", "show=errors")),
    /aria-label="[\d-]+ \d\d:00: 0 of 3 calls"/,
  );
  assert.match(
    await get("/console/usage?show=first_token"),
    /aria-label="[\d-]+: p50 [\d.]+ m?s, p95 [\d.]+ m?s"/,
  );
  const [file = {}] = csvRows(
    await get("/console/usage.csv?by=model&model=vendorb-5.5"),
  );
  assert.deepEqual(
    ["requests", "calls", "refused_calls", "failed_calls"].map((name) =>
      file[name]
    ),
    ["2", "2", "0", "0"],
  );
  assert.ok(Number(file["first_token_p95_ms"]) > 0);
  // Ranges of hours may be long, and begin before hours are kept.
  for (const shown of ["cost", "calls"]) {
    const long = await get(
      `/console/usage?from=2026-01-03T05:00&to=2026-01-20T07:00&show=${shown}&by=model`,
    );
    assert.match(long, /No calls in these days/);
    const day = new Date(Date.now() - 9 * 86_400_000).toISOString();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const found = await get(
      `/console/usage?from=${day.slice(0, 13)}:00&to=${
        until.slice(0, 13)
      }:00&show=${shown}&by=day`,
    );
    assert.match(
      found,
      /aria-label="[\d-]+(?: \d\d:00)?: (?:3; |\$0)/,
      shown,
    );
  }
  const ofUser = await get("/console/usage?user=u");
  assert.match(ofUser, /not counted by end user/);
  const wrong = await owner.get("/console/usage?show=taste");
  assert.match(await wrong.text(), /show: must be cost, tokens, charges/i);
  const hours = await owner.get(
    "/console/usage?user=u&from=2026-11-21T10:00",
  );
  assert.match(await hours.text(), /end users is kept by day/);
});
