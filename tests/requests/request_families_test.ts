/**
 * Conversations that begin with one model family and continue with another. As in real clients, the
 * reply's own blocks are sent back. Every upstream must accept them, so nothing may arrive there
 * that only another format's upstream could have produced.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import { valueAt } from "../../translate/testing/request_table.ts";
import { pathsOf, send } from "../support/tables/request_table.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

interface Format {
  readonly path: string;
  /** Fields of the first request, except `model` and `messages`. */
  readonly fields: JsonObject;
  /** The messages that follow the first user message in the next request. */
  next(answer: unknown): readonly JsonObject[];
}

const TOOL_SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
};

const FORMATS: Readonly<Record<string, Format>> = {
  messages: {
    path: "/v1/messages",
    fields: {
      max_tokens: 4000,
      tools: [{ name: "get_weather", input_schema: TOOL_SCHEMA }],
    },
    next(answer) {
      const content = listAt(answer, "content");
      return [
        { role: "assistant", content },
        {
          role: "user",
          content: [
            ...content.filter((block) => block["type"] === "tool_use").map((
              block,
            ) => ({
              type: "tool_result",
              tool_use_id: block["id"],
              content: "Sunny",
            })),
            { type: "text", text: "go on" },
          ],
        },
      ];
    },
  },
  chat: {
    path: "/v1/chat/completions",
    fields: {
      tools: [{
        type: "function",
        function: { name: "get_weather", parameters: TOOL_SCHEMA },
      }],
    },
    next(answer) {
      const message = valueAt(answer, "choices[0].message");
      assert.ok(isObject(message));
      return [
        message,
        ...listAt(message, "tool_calls").map((call) => ({
          role: "tool",
          tool_call_id: call["id"],
          content: "Sunny",
        })),
        { role: "user", content: "go on" },
      ];
    },
  },
};

function listAt(value: unknown, path: string): readonly JsonObject[] {
  if (valueAt(value, path) === undefined) return [];
  const list = valueAt(value, path);
  assert.ok(Array.isArray(list), `no list at ${path}`);
  return list.filter(isObject);
}

/** Format of each family's upstream, by the client's format; in the order of `FAMILIES`. */
const DIALECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  messages: {
    "vendora-opus-4-8": "messages",
    "vendorb-5.5": "chat",
    "vendorc-3-pro": "generate",
    "vendord-m3": "messages",
  },
  chat: {
    "vendora-opus-4-8": "messages",
    "vendorb-5.5": "chat",
    "vendorc-3-pro": "generate",
    "vendord-m3": "chat",
  },
};

/** Keys that an upstream of this format must not receive. */
const FOREIGN: Readonly<Record<string, ReadonlySet<PropertyKey>>> = {
  messages: new Set([
    "extra_content",
    "reasoning_details",
    "reasoning_content",
    "thought_signature",
    "thoughtSignature",
    "tool_calls",
  ]),
  chat: new Set([
    "extra_content",
    "reasoning_details",
    "thought_signature",
    "thoughtSignature",
    "thinking",
    "signature",
    "tool_use_id",
  ]),
  generate: new Set([
    "extra_content",
    "reasoning_details",
    "reasoning_content",
    "thought_signature",
    "thinking",
    "signature",
    "tool_use_id",
    "tool_calls",
  ]),
};

const FIXTURES = [
  "thinking-tool",
  "thinking",
  "redacted-thinking",
  "tool-parallel",
];

Deno.test("a conversation continues with another family, without fields of the first one's format", async (t) => {
  await using gateway = await startTestGateway();
  for (const [formatName, format] of Object.entries(FORMATS)) {
    const dialects = DIALECTS[formatName] ?? {};
    for (const [from, origin] of Object.entries(dialects)) {
      for (const fixture of FIXTURES) {
        const first = { role: "user", content: `[[fx:${fixture}]]` };
        const begun = await send(gateway, format.path, {
          ...format.fields,
          model: from,
          messages: [first],
        });
        assert.equal(begun.response.status, 200);
        const messages = [first, ...format.next(begun.answer)];
        for (const [to, dialect] of Object.entries(dialects)) {
          await t.step(
            `${formatName}: ${fixture} from ${from} to ${to}`,
            async () => {
              const went = await send(gateway, format.path, {
                ...format.fields,
                model: to,
                messages,
              }, { "x-gateway-strict": "true" });
              assert.equal(
                went.response.status,
                200,
                JSON.stringify(went.answer),
              );
              assert.deepEqual(
                pathsOf(
                  went.upstreamJson,
                  (key) => FOREIGN[dialect]?.has(key) === true,
                ),
                [],
                went.upstreamText,
              );
              if (dialect === origin) {
                return;
              }
              assert.deepEqual(
                pathsOf(
                  went.upstreamJson,
                  (key, value) =>
                    key === "signature" ||
                    key === "type" && value === "redacted_thinking",
                ),
                [],
                went.upstreamText,
              );
            },
          );
        }
      }
    }
  }
});

/** The next turn after a fixture's reply, which it contains. */
async function sendBack(
  gateway: TestGateway,
  formatName: string,
  model: string,
  fixture: string,
) {
  const format = FORMATS[formatName];
  assert.ok(format !== undefined);
  const first = { role: "user", content: `[[fx:${fixture}]]` };
  const fields = { ...format.fields, model };
  const { answer } = await send(gateway, format.path, {
    ...fields,
    messages: [first],
  });
  return await send(gateway, format.path, {
    ...fields,
    messages: [first, ...format.next(answer)],
  });
}

Deno.test("thoughts and signatures are sent back to the family that produced them", async (t) => {
  await using gateway = await startTestGateway();
  const rows: readonly (readonly [string, string, string, string, RegExp])[] = [
    [
      "chat",
      "vendora-opus-4-8",
      "thinking-tool",
      "messages[1].content[0].signature",
      /./,
    ],
    [
      "messages",
      "vendora-opus-4-8",
      "thinking-tool",
      "messages[1].content[0].signature",
      /./,
    ],
    [
      "chat",
      "vendora-opus-4-8",
      "redacted-thinking",
      "messages[1].content[1].data",
      /./,
    ],
    [
      "messages",
      "vendora-opus-4-8",
      "redacted-thinking",
      "messages[1].content[1].data",
      /./,
    ],
  ];
  for (const [formatName, model, fixture, path, wanted] of rows) {
    await t.step(`${formatName}: ${fixture} at ${model}`, async () => {
      const went = await sendBack(gateway, formatName, model, fixture);
      assert.equal(went.response.status, 200);
      assert.match(
        String(valueAt(went.upstreamJson, path) ?? ""),
        wanted,
        went.upstreamText,
      );
    });
  }
  for (const formatName of ["messages", "chat"]) {
    await t.step(
      `${formatName}: a call's signature at vendorc-3-pro`,
      async () => {
        const went = await sendBack(
          gateway,
          formatName,
          "vendorc-3-pro",
          "thinking-tool",
        );
        const signed = pathsOf(
          went.upstreamJson,
          (key, value) =>
            key === "thoughtSignature" &&
            value !== "skip_thought_signature_validator",
        );
        assert.equal(signed.length, 1, went.upstreamText);
      },
    );
  }
});
