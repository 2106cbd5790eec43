/** What the formats leave open fails no check: the order of members, comments, further headers. */
import assert from "node:assert/strict";
import { startReplay } from "@model-gateway/replay";
import {
  isObject,
  type Json,
  type JsonObject,
  objectOf,
} from "@model-gateway/replay/json";
import { CHECKS } from "../areas/checks.ts";
import { SCENARIOS } from "../areas/scenarios.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import { judgedIn } from "../suite/check.ts";
import { judge } from "./judge.ts";
import { playOnReference } from "./on_reference.ts";

const PLAYED = [
  "text",
  "message-forms-whole",
  "message-forms-stream",
  "chat-forms",
  "pair-calls",
  "same-again",
  "model-list",
  "responses-replies",
];

/** The value with the members of every object in the opposite order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  return isObject(value)
    ? Object.fromEntries(
      Object.keys(value).reverse().map((
        name,
      ) => [name, reversed(value[name] ?? null)]),
    )
    : value;
}

const more = (
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => ({
  ...headers,
  server: "front",
  via: "1.1 front",
  "x-ratelimit-limit-requests": "50",
  "openai-processing-ms": "12",
});

/** A member of no format, where a format allows further ones. */
const MORE: JsonObject = { x_front: { region: "north" } };

const VARIED: Hooks = {
  reply: (reply) => ({
    ...reply,
    headers: more(reply.headers),
    body: objectOf(reversed({ ...reply.body, ...MORE })),
  }),
  streamHeaders: more,
  frame: (frame) => [
    typeof frame.data === "string"
      ? frame
      : { ...frame, data: objectOf(reversed(frame.data)) },
  ],
  wire: (text) => `: a comment\n\n${text}`,
};

Deno.test("a correct gateway may order, comment and add as it likes", async () => {
  await using replay = await startReplay({ keepEntries: 5000 });
  const checks = CHECKS.filter((check) =>
    judgedIn(check, "replay") && check.level !== "contract" &&
    check.reads !== "everything" &&
    check.reads.every((name) => PLAYED.includes(name))
  );
  assert.ok(checks.length > 80, `only ${checks.length} checks are judged`);
  const scenarios = SCENARIOS.filter(({ name }) => PLAYED.includes(name));
  assert.equal(scenarios.length, PLAYED.length);
  const { records } = await playOnReference(
    replay,
    "replay",
    VARIED,
    scenarios,
  );
  const failed = checks.map((check) => judge(check, "replay", records))
    .filter(({ verdict }) => verdict !== "pass")
    .map(({ check, findings, why }) => {
      const bad = findings.find(({ verdict }) => verdict === "fail");
      return `${check.id}: ${why ?? bad?.fact} ${bad?.expected} ${bad?.actual}`;
    });
  assert.deepEqual(failed, []);
});
