import assert from "node:assert/strict";
import { keyHint, newCredential, newKey } from "../accounts/key.ts";
import { newRequestId } from "../http/request_id.ts";
import { credentialHints, enteredHints } from "./credential_hints.ts";

/** Made up, in the forms that clouds, vendors and code hosts use. */
const SECRETS: readonly string[] = [
  newKey(),
  newCredential("at"),
  newCredential("code"),
  "sk-ant-api03-Qm9yZGVyLWNvbGxpZS1waXp6YQ-AAAA",
  "sk-proj-abcdefghijklmnop",
  `AIza${"SyD3bQ9xR7kLm2Np4Vt6Ws8Yz0Bc1Df3Gh5"}`,
  "AKIAQ3EGZ7JX2M4N5P6R",
  "ya29.a0AfH6SMBx-7kQ9zLm3Np5Rt",
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${"s".repeat(43)}`,
  "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  "gsk_8dKx02LmPq74RsTv91WyZa35BcDe",
];

Deno.test("enteredHints() leaves a hint of a credential, wherever it stands", () => {
  for (const secret of SECRETS) {
    for (
      const text of [
        secret,
        `Bearer ${secret}`,
        `authorization: Bearer ${secret}`,
        `x-api-key: ${secret}`,
        `GATEWAY_KEY="${secret}"`,
        `https://gateway.example/console/sign-in#${secret}`,
      ]
    ) {
      const hint = enteredHints(text);
      assert.ok(!hint.includes(secret.slice(4, -4)), `${text}: ${hint}`);
      assert.match(hint, /…|\[removed\]/, text);
      assert.equal(enteredHints(hint), hint);
    }
  }
});

Deno.test("enteredHints() leaves the hint of a key as it is stored, also with its header", () => {
  const key = newKey();
  for (
    const text of [key, `Authorization: Bearer ${key}`, `x-api-key: ${key}`]
  ) {
    assert.equal(enteredHints(text), keyHint(key));
  }
});

Deno.test("credentialHints() leaves a hint of what surely is a credential, and of the configured ones", () => {
  for (const secret of SECRETS) {
    const hint = credentialHints(`a ${secret} b`);
    if (secret.startsWith("sk-proj")) continue;
    assert.ok(!hint.includes(secret.slice(4, -4)), hint);
  }
  assert.equal(
    credentialHints("with our-own-admin-token", [
      "our-own-admin-token",
      "with",
    ]),
    "with ou…en",
  );
});

Deno.test("credentialHints() leaves names as they are that begin as credentials do", () => {
  for (
    const text of [
      "code-llama-34b-instruct-awq",
      "at-home-customers-of-2026",
      "sk-learn-models-team-2",
      "hf-internal-testing-tiny-random",
      "r8-large-model-of-2026",
      "token:instruct-v2",
      "5f".repeat(32),
      "key_0mk3Qb9xR7kLm2Np4Vt6",
    ]
  ) assert.equal(credentialHints(text), text);
});

Deno.test("enteredHints() leaves a hint of random texts in any alphabet", () => {
  for (
    const secret of [
      "0123456789abcdef0123456789abcdef",
      "3f8a91c2d4e5b6a7908172635445362718f0e1d2c3b4a5968778695a4b3c2d1e",
      "kP3x/Vq8Ln2Zt+R7sWb5Yd0Jg4Hc/mN1oF6uKeTa",
      "dG9rZW4tb2YtYS10ZXN0LXRoYXQtaXMtbG9uZw9X",
      "Zk3pQ8vL1xT6mB9nR2cY",
    ]
  ) {
    const hint = enteredHints(secret);
    assert.ok(!hint.includes(secret.slice(4, -4)), hint);
    assert.match(hint, /^.{2,7}….{2,4}$/);
  }
});

Deno.test("enteredHints() leaves names, ids and ordinary texts as they are", () => {
  for (
    const text of [
      "",
      "search team",
      "robin@example.com",
      "task-list",
      newRequestId(Date.now()),
      "key_0mk3Qb9xR7kLm2Np4Vt6",
      "6f1c1f5e-7f0b-4c61-9a55-1b1a0e4f9a10",
      "anthropic.claude-3-5-sonnet-20240620-v1:0",
      "accounts/fireworks/models/Llama4-Maverick-Instruct-Basic",
      "Llama4MaverickInstruct17B",
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.model-v1:0",
      "tokens_per_minute",
      "2026-11-28T16:00",
      "internationalizationSupportTeam",
    ]
  ) assert.equal(enteredHints(text), text);
});
