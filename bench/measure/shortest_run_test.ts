import assert from "node:assert/strict";
import { parseOptions } from "../options.ts";
import { shortestRunMs } from "./shortest_run.ts";

Deno.test("a quick run is set to 80 seconds at most", () => {
  assert.ok(shortestRunMs(parseOptions(["--quick"])) <= 80_000);
});

Deno.test("a run is set to a quarter of an hour at most", () => {
  assert.ok(shortestRunMs(parseOptions([])) <= 15 * 60_000);
});

Deno.test("shortestRunMs() adds up what takes turns", () => {
  const one = parseOptions([
    "--scenario=messages/whole-small",
    "--rounds=2",
    "--seconds=1",
    "--peers=",
  ]);
  // Direct connection, raw pipe and gateway: a warm-up and two rounds.
  assert.equal(shortestRunMs(one), 3 * 3 * 1_050);
  const two = parseOptions([
    "--scenario=messages/whole-small",
    "--rounds=2",
    "--seconds=1",
    "--gateway-dir=/a",
    "--gateway-dir=/b",
    "--peers=",
  ]);
  assert.equal(shortestRunMs(two), 4 * 3 * 1_050);
  const paced = (warmUp: string): number =>
    shortestRunMs(parseOptions([
      "--scenario=messages/stream-paced",
      "--rounds=2",
      "--peers=",
      `--warm-up=${warmUp}`,
    ]));
  // The raw pipe and the gateway: streams of three seconds.
  assert.equal(paced("2.9"), 2 * 2 * 3_050);
  assert.equal(paced("3"), 2 * 3 * 3_050);
  assert.equal(
    shortestRunMs(parseOptions(["--scenario=memory"])),
    21_000,
  );
  const members = (scenario: string): number =>
    shortestRunMs(
      parseOptions([`--scenario=${scenario}`, "--rounds=2", "--seconds=1"]),
    ) / (3 * 1_050);
  assert.equal(members("messages/whole-small"), 5);
  // There is no direct connection over TLS, and no peer translates from messages.
  assert.equal(members("tls/messages/whole-small"), 4);
  assert.equal(members("tls/messages-to-chat/whole-small"), 2);
  assert.equal(members("tls/chat-to-messages/whole-small"), 3);
});
