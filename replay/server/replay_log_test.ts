import assert from "node:assert/strict";
import { parseRequest } from "../parse_request.ts";
import { ReplayLog } from "./replay_log.ts";

function arrive(log: ReplayLog, ...turns: readonly string[]): void {
  const request = {
    method: "POST",
    path: "/v1/messages",
    headers: {},
    body: JSON.stringify({
      messages: turns.map((content) => ({ role: "user", content })),
    }),
  };
  const { marker, json } = parseRequest(request);
  log.begin({ request, json, marker, connection: 1, status: 200 });
}

Deno.test("requests are found by the nonce of their last turn, or of any turn when that has none", () => {
  const log = new ReplayLog(3);
  const found = (...nonces: string[]) =>
    log.withNonces(nonces).map(({ id }) => id);
  arrive(log, "[[fx:text#n1]]");
  arrive(log, "[[fx:text#n1]]", "[[fx:text#n2]]");
  arrive(log, "[[fx:text#n3]]", "no marker");
  assert.deepEqual(found("n1"), [1]);
  assert.deepEqual(found("n3", "n2", "n4"), [2, 3]);
  arrive(log, "[[fx:text#n1]]");
  assert.deepEqual(found("n1"), [4], "the first entry is dropped");
  log.clear();
  assert.deepEqual(found("n1", "n2", "n3"), []);
});
