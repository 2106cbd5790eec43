/** A run leaves out the checks of optional features that the target lacks, and no others. */
import assert from "node:assert/strict";
import { startReferenceGateway } from "../reference_gateway/gateway.ts";
import type { Hooks } from "../reference_gateway/hooks.ts";
import { problemOf } from "../reference_gateway/problems.ts";
import { changeReplies } from "../faults/change_hooks.ts";
import { put } from "../faults/change_responses.ts";
import { startReplay } from "@model-gateway/replay";
import { run } from "./run.ts";
import { readSettings, UsageError } from "./settings.ts";

const KEY = "sk-optional-7f3a9c51d2e84b";
const OTHER_KEY = "sk-optional-other-2b8e61f07d9a";
const CHECKS = "--filter=responses.status,responses.read,models.object";

function without(path: string): Hooks {
  return {
    request: (request) => ({
      ...request,
      path: request.path.replace(path, "/v1/other"),
    }),
  };
}

const WITHOUT = without("/v1/responses");

/** Without the endpoint, too: a catch-all answers in its place. */
const EVERY_PATH: Hooks = {
  ...WITHOUT,
  reply: (reply, { path }) =>
    path === "/v1/other"
      ? {
        ...reply,
        status: 400,
        body: { error: "Missing model in request body" },
      }
      : reply,
};

/** Runs against a reference gateway; returns the exit code and the output. */
async function runAgainst(
  hooks: Hooks,
  ...args: readonly string[]
): Promise<{ exitCode: number; shown: string }> {
  await using replay = await startReplay();
  await using gateway = await startReferenceGateway({
    key: KEY,
    otherKey: OTHER_KEY,
    upstreamUrl: replay.url,
    hooks,
  });
  const shown: string[] = [];
  const settings = readSettings(
    [`--base-url=${gateway.url}`, CHECKS, ...args],
    KEY,
  );
  const exitCode = await run(settings, {
    line: (line) => shown.push(line),
    progress: () => {},
    verdict: (verdict) => verdict,
  });
  return { exitCode, shown: shown.join("\n") };
}

for (
  const [name, hooks, args, exitCode, says] of [
    ["all features are judged where a target has them", {}, [], 0, /3 checks/],
    [
      "a target without the endpoint loses only the checks of the endpoint",
      WITHOUT,
      [],
      0,
      /^without {3}responses: 1 check .*404[^]*^plan {6}1 check /m,
    ],
    [
      "a target that answers every path loses only what it does not have",
      EVERY_PATH,
      [],
      0,
      /^without {3}responses: 1 check .*400[^]*^plan {6}1 check /m,
    ],
    [
      "a target that stores no replies loses only the checks of stored replies",
      put("store", false),
      [],
      0,
      /^without {3}stored responses: 1 check [^]*^plan {6}2 checks /m,
    ],
    [
      "a run without a second key leaves out what needs one",
      {},
      ["--filter=responses.other", "--profile=contract"],
      0,
      /^without {3}second key: 2 checks left out \(CONFORMANCE_OTHER_KEY /m,
    ],
    [
      "a run with a second key judges what one key hides from another",
      {},
      [
        "--filter=responses.other",
        "--profile=contract",
        `--other-key=${OTHER_KEY}`,
      ],
      0,
      /^plan {6}5 checks /m,
    ],
    [
      "a target without the endpoint needs no second key",
      WITHOUT,
      ["--filter=responses.other", "--profile=contract"],
      0,
      /^without {3}stored responses: 3 checks [^]*^plan {6}1 check /m,
    ],
    [
      "a target without an endpoint that --endpoints names fails",
      WITHOUT,
      ["--endpoints=messages,chat,responses"],
      1,
      /fail {2}responses\.status/,
    ],
    [
      "a target without generate content loses only its checks",
      without("/v1beta"),
      ["--filter=generate_content.members,counts.generate_content-number"],
      0,
      /^without {3}generate content: 2 checks .*404[^]*^plan {6}3 checks /m,
    ],
    [
      "a target that counts in some formats is judged in these",
      without("/v1/chat/completions/input_tokens"),
      ["--filter=counts.chat-number,counts.messages-number"],
      0,
      /^without {3}chat counts: 1 check .*404[^]*^plan {6}4 checks /m,
    ],
    [
      "a target without embeddings loses only their checks",
      without("/v1/embeddings"),
      ["--filter=embeddings.members"],
      0,
      /^without {3}embeddings: 1 check .*404[^]*^plan {6}3 checks /m,
    ],
    [
      "a target that has an endpoint and answers with the status 404 fails",
      changeReplies({ endpoint: "responses" }, { status: 404 }),
      [],
      1,
      /fail {2}responses\.status/,
    ],
    [
      "a target without web sockets loses only their checks",
      { upgrade: () => problemOf(426, "Not here") },
      ["--filter=web_socket.events"],
      0,
      /^without {3}web socket: 1 check .*426[^]*^plan {6}3 checks /m,
    ],
    [
      "what --endpoints names is judged without being there",
      without("/v1beta"),
      [
        "--endpoints=messages,chat,generate-content",
        "--filter=generate_content.members",
      ],
      1,
      /fail {2}generate_content\.members/,
    ],
    [
      "--endpoints leaves the endpoint out",
      {},
      ["--endpoints=messages,chat"],
      0,
      /^plan {6}1 check /m,
    ],
  ] as const
) {
  Deno.test({
    name,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      const result = await runAgainst(hooks, ...args);
      assert.equal(result.exitCode, exitCode, result.shown);
      assert.match(result.shown, says);
    },
  });
}

Deno.test("readSettings() refuses a list of endpoints without the required ones", () => {
  for (const list of ["responses", "chat", "chat,messages,more"]) {
    assert.throws(
      () => readSettings([`--endpoints=${list}`], undefined),
      UsageError,
      list,
    );
  }
});
