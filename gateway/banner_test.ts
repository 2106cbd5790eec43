/** What a start prints. */
import assert from "node:assert/strict";
import { banner } from "./banner.ts";
import { readConfig } from "./settings/config.ts";

Deno.test("a start prints the operators' address where they can sign in, and a command of each format", () => {
  const textWith = (env: Readonly<Record<string, string>>): string =>
    banner({
      config: readConfig({
        env: { GATEWAY_UPSTREAM: "replay", ...env },
        readFile: () => "",
      }),
      baseUrl: "http://127.0.0.1:8787",
      hasConsole: true,
      isInMemory: false,
      models: [{ id: "vendora-opus-4-8" }],
    });
  const token = { GATEWAY_ADMIN_TOKEN: "an-admin-token-of-a-test" };
  assert.match(
    textWith(token),
    /^Operators: http:\/\/127\.0\.0\.1:8787\/console\/operator\/$/m,
  );
  assert.doesNotMatch(textWith({}), /Operators/);
  assert.match(
    textWith({ ...token, GATEWAY_PUBLIC_URL: "https://gateway.example.com" }),
    /^Operators: https:\/\/gateway\.example\.com\/console\/operator\/$/m,
  );
  for (const path of ["messages", "chat/completions", "responses"]) {
    assert.ok(textWith({}).includes(`http://127.0.0.1:8787/v1/${path} `), path);
  }
});
