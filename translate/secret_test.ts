import assert from "node:assert/strict";
import { chatCompletions } from "./chat_completions/mod.ts";
import { PLAIN_CONTEXT } from "./dialect.ts";
import { withoutSecret } from "./secret.ts";

const SECRET = "sk-vendor-0123456789abcdef";
const DIALECT = withoutSecret(chatCompletions, SECRET);

Deno.test("withoutSecret() takes the secret out of message, code and param of a refusal", () => {
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

Deno.test("withoutSecret() leaves no beginning of a secret where a message was cut to length", () => {
  const message = `${"x".repeat(3990)}${SECRET}`;
  const body = { error: { message, code: 400 } };
  const [event] = DIALECT.decodeReply(body, PLAIN_CONTEXT);
  assert.ok(event?.type === "error");
  assert.equal(event.error.message, `${"x".repeat(3990)}[removed]`);
});

Deno.test("withoutSecret() leaves an answer as the model gave it", () => {
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

Deno.test("withoutSecret() is the dialect itself where there is no secret", () => {
  assert.equal(withoutSecret(chatCompletions, ""), chatCompletions);
});
