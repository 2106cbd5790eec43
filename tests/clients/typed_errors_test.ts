/**
 * Errors of an upstream that contain more than a message, as the official libraries report them
 * through the gateway: in the upstream's own format whole, in other formats with the code, and
 * without a reason where they concern the operator's account.
 */
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { jsonScript, type Script, streamScript } from "../../replay/mod.ts";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { errorClasses } from "../packages/anthropic.ts";
import { anthropicAt, openaiAt } from "../support/clients/library_clients.ts";
import { withResponsesUpstream } from "../support/responses_world.ts";
import { messageItem } from "../support/upstreams/responses_upstream.ts";
import type { TestGateway } from "../support/test_gateway.ts";
import { withGateway } from "../support/with_gateway.ts";

const MESSAGES_MODEL = "vendora-opus-4-8";
const CHAT_MODEL = "vendorb-5.5";

/** The library's classes by `STATUS CODE`. Its declarations leave the table out. */
const CLASSES: unknown = Reflect.get(errorClasses, "ERROR_CODE_CLASSES");

/** Codes that concern the operator's account: no caller receives them. */
const HIDDEN: ReadonlySet<string> = new Set([
  "400 claude_code_key_creator_not_member",
  "400 cmek_key_disabled",
  "400 cmek_key_network_blocked",
  "400 organization_on_hold",
  "400 organization_type_not_supported",
  "400 parent_organization_required",
  "402 linked_organization_billing_unavailable",
  "402 linked_organization_spend_limit_reached",
  "429 contract_spend_limit_reached",
  "429 enforced_spend_limit_reached",
  "503 cmek_context_unavailable",
  "503 cmek_key_unreachable",
]);

/** Codes of other endpoints, at statuses that mean something else for a generation call. */
function isElsewhere(name: string): boolean {
  return (name.startsWith("403 ") && !name.startsWith("403 user_profile_")) ||
    name.startsWith("412 ");
}

let scripts = 0;

/** A prompt that the upstream answers with this script. */
function prompt(gateway: TestGateway, script: Script): string {
  const name = `typed-${scripts++}`;
  gateway.replay.script(name, script);
  return `[[fx:${name}]]`;
}

function question(
  model: string,
  content: string,
): Anthropic.MessageCreateParamsNonStreaming {
  return { model, max_tokens: 100, messages: [{ role: "user", content }] };
}

/** The error of a call, which must have one. */
async function errorOf<T extends Error>(
  type: abstract new (...args: never[]) => T,
  call: () => Promise<unknown>,
): Promise<T> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof type, String(error));
    return error;
  }
  return assert.fail("no error");
}

function vendorError(details: JsonObject) {
  const type = "invalid_request_error";
  return { type: "error", error: { type, message: "The reason.", details } };
}

const START = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n`,
  `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n`,
];

/** A request that one of its pictures spoils. */
const PICTURE = {
  error_code: "image_dimensions_too_large",
  max_side_length_pixels: 8000,
  places: [{ message: 0, block: 1 }],
};

Deno.test("every typed error of the messages library arrives as its class with its details, unless it concerns the operator", (t) =>
  withGateway(async (gateway) => {
    assert.ok(CLASSES instanceof Map && CLASSES.size > 90);
    const hidden = new Set<string>();
    for (const [name, expected] of CLASSES) {
      if (isElsewhere(name)) continue;
      await t.step(name, async () => {
        const [status = "", code = ""] = name.split(" ");
        const details = { error_code: code, appeal_url: "https://x/appeal" };
        const error = await errorOf(
          Anthropic.APIError,
          () =>
            anthropicAt(gateway.url).messages.create(question(
              MESSAGES_MODEL,
              prompt(gateway, jsonScript(Number(status), vendorError(details))),
            )),
        );
        if (error.status === 502) {
          hidden.add(name);
          assert.equal(error.errorCode, null);
          assert.equal(error.details, null);
          assert.doesNotMatch(JSON.stringify(error.error), /appeal|reason/);
          return;
        }
        assert.ok(error instanceof expected, error.constructor.name);
        assert.equal(error.errorCode, code);
        assert.deepEqual(error.details, details);
        assert.equal(error.apiMessage, "The reason.");
      });
    }
    assert.deepEqual(hidden, HIDDEN);
  }));

Deno.test("details of an error inside a stream reach the messages library whole", (t) =>
  withGateway(async (gateway) => {
    const frame = `event: error\ndata: ${
      JSON.stringify(vendorError(PICTURE))
    }\n\n`;
    for (const [name, frames] of [["first", []], ["later", START]] as const) {
      await t.step(`a stream's ${name} frame`, async () => {
        const script = streamScript([...frames, frame]);
        const error = await errorOf(
          Anthropic.APIError,
          () =>
            anthropicAt(gateway.url).messages.stream(
              question(MESSAGES_MODEL, prompt(gateway, script)),
            ).finalMessage(),
        );
        assert.equal(error.status, name === "first" ? 400 : undefined);
        assert.equal(error.type, "invalid_request_error");
        assert.equal(error.errorCode, PICTURE.error_code);
        assert.deepEqual(error.details, PICTURE);
      });
    }
  }));

Deno.test("other formats receive the code and the message of details", (t) =>
  withGateway(async (gateway) => {
    const script = jsonScript(400, vendorError(PICTURE));
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      chat: () =>
        openaiAt(gateway.url).chat.completions.create({
          model: MESSAGES_MODEL,
          messages: [{ role: "user", content: prompt(gateway, script) }],
        }),
      responses: () =>
        openaiAt(gateway.url).responses.create({
          model: MESSAGES_MODEL,
          input: prompt(gateway, script),
        }),
    };
    for (const [name, call] of Object.entries(calls)) {
      await t.step(name, async () => {
        const error = await errorOf(OpenAI.BadRequestError, call);
        assert.equal(error.code, PICTURE.error_code);
        assert.match(error.message, /The reason\./);
        assert.ok(isObject(error.error));
        assert.equal(error.error["details"], undefined);
      });
    }
  }));

const MISALIGNMENT = {
  detailed_explanation: "It would send data elsewhere.",
  error_type: "potentially_unintended_data_transfer",
  review_target: "rt_1",
  steer: { message: "Ask first." },
};
const BLOCKED = {
  message: "The request was blocked.",
  type: "invalid_request_error",
  code: "misalignment_policy_violation",
  param: null,
  misalignment: MISALIGNMENT,
};

function misalignmentIn(error: unknown): unknown {
  return isObject(error) ? error["misalignment"] : undefined;
}

Deno.test("misalignment reaches the chat library whole, by status and inside a stream", (t) =>
  withGateway(async (gateway) => {
    const start =
      `data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}\n\n`;
    const scripts: Readonly<Record<string, Script>> = {
      "400": jsonScript(400, { error: BLOCKED }),
      "403": jsonScript(403, { error: BLOCKED }),
      "a stream": streamScript([
        start,
        `data: ${JSON.stringify({ error: BLOCKED })}\n\n`,
      ]),
    };
    for (const [name, script] of Object.entries(scripts)) {
      await t.step(name, async () => {
        const error = await errorOf(OpenAI.APIError, async () => {
          const stream = await openaiAt(gateway.url).chat.completions.create({
            model: CHAT_MODEL,
            stream: true,
            messages: [{ role: "user", content: prompt(gateway, script) }],
          });
          for await (const _ of stream);
        });
        assert.equal(error.code, BLOCKED.code);
        assert.deepEqual(misalignmentIn(error.error), MISALIGNMENT);
      });
    }
    await t.step("a client of the messages format", async () => {
      const error = await errorOf(
        Anthropic.BadRequestError,
        () =>
          anthropicAt(gateway.url).messages.create(question(
            CHAT_MODEL,
            prompt(gateway, jsonScript(400, { error: BLOCKED })),
          )),
      );
      assert.equal(error.apiMessage, BLOCKED.message);
      assert.equal(error.details, null);
      assert.ok(isObject(error.error));
      assert.equal(misalignmentIn(error.error["error"]), undefined);
    });
  }));

Deno.test("misalignment reaches the Responses library whole, by status, in a failed reply and inside a stream", (t) =>
  withResponsesUpstream(async ({ openai, upstream }) => {
    const asked = { model: "house-model", input: "Hi" };
    await t.step("a status", async () => {
      upstream.play({ status: 400, error: BLOCKED });
      const error = await errorOf(
        OpenAI.BadRequestError,
        () => openai.responses.create(asked),
      );
      assert.deepEqual(misalignmentIn(error.error), MISALIGNMENT);
    });
    const failed = {
      items: [messageItem("half of it")],
      failAfter: 4,
      error: BLOCKED,
    };
    await t.step("a failed reply", async () => {
      upstream.play(failed);
      const error = await errorOf(
        OpenAI.BadRequestError,
        () => openai.responses.create(asked),
      );
      assert.deepEqual(misalignmentIn(error.error), MISALIGNMENT);
    });
    await t.step("a stream", async () => {
      upstream.play(failed);
      const error = await errorOf(OpenAI.APIError, async () => {
        const stream = await openai.responses.create({
          ...asked,
          stream: true,
        });
        for await (const _ of stream);
      });
      assert.equal(error.code, BLOCKED.code);
      assert.deepEqual(misalignmentIn(error.error), MISALIGNMENT);
    });
  }));
