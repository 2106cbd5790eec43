import assert from "node:assert/strict";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { messages } from "../formats/messages/mod.ts";
import { PLAIN_CONTEXT } from "../dialect.ts";
import { redactKey } from "./redact_key.ts";

const SECRET = "sk-vendor-0123456789abcdef";
const DIALECT = redactKey(chatCompletions, SECRET);

Deno.test("redactKey() removes the secret from message, code and param of an error", () => {
  const error = DIALECT.decodeError(
    400,
    new Headers(),
    JSON.stringify({
      error: { message: `no ${SECRET}`, code: SECRET, param: SECRET },
    }),
  );
  assert.equal(error.message, "no [removed]");
  assert.equal(error.details.code, "[removed]");
  assert.equal(error.details.param, "[removed]");
});

Deno.test("redactKey() removes the secret from what passes to clients of the same format, and keeps its numbers", () => {
  const secret = `${SECRET}"\\`;
  const [event] = redactKey(messages, secret).streamDecoder(PLAIN_CONTEXT).push(
    {
      event: "error",
      data:
        `{"type":"error","error":{"message":"m","details":{"n":12345678901234567890,"list":[${
          JSON.stringify(`at ${secret}.`)
        }]}}}`,
    },
  );
  assert.ok(event?.type === "error");
  assert.equal(
    JSON.stringify(event.error.details.vendorError?.fields["details"]),
    '{"n":12345678901234567890,"list":["at [removed]."]}',
  );
});

Deno.test("redactKey() removes the prefix of a secret where a message was cut to length", () => {
  const message = `${"x".repeat(3990)}${SECRET}`;
  const body = { error: { message, code: 400 } };
  const [event] = DIALECT.decodeReply(body, PLAIN_CONTEXT);
  assert.ok(event?.type === "error");
  assert.equal(event.error.message, `${"x".repeat(3990)}[removed]`);
});

Deno.test("redactKey() leaves an error unchanged where the key is a placeholder of a few characters", () => {
  const error = redactKey(chatCompletions, "x").decodeError(
    400,
    new Headers(),
    '{"error":{"message":"exceeds"}}',
  );
  assert.equal(error.message, "exceeds");
});

Deno.test("redactKey() leaves an answer unchanged", () => {
  const frame = {
    data: JSON.stringify({
      id: "1",
      choices: [{ delta: { content: SECRET } }],
    }),
  };
  assert.deepEqual(
    DIALECT.streamDecoder(PLAIN_CONTEXT).push(frame),
    chatCompletions.streamDecoder(PLAIN_CONTEXT).push(frame),
  );
});

Deno.test("redactKey() returns the dialect itself without a secret", () => {
  assert.equal(redactKey(chatCompletions, ""), chatCompletions);
});
