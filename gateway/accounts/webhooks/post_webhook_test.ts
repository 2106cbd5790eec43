/** Where a message goes when its address's name leads to another machine than before. */
import assert from "node:assert/strict";
import { postWebhook } from "./post_webhook.ts";
import { newWebhookSecret } from "./signature.ts";

const CERTIFICATES = new URL(
  "../../../tests/support/certificates/",
  import.meta.url,
);
const pem = (name: string): string =>
  Deno.readTextFileSync(new URL(name, CERTIFICATES));

/** What a name may lead to: a service without TLS, or with a certificate of another name. */
const ELSEWHERE: Readonly<Record<string, Partial<Deno.TlsCertifiedKeyPem>>> = {
  "a service without TLS": {},
  "a certificate of another name": {
    cert: pem("wrong_name.pem"),
    key: pem("wrong_name.key"),
  },
  "a certificate of an unknown authority": {
    cert: pem("unknown.pem"),
    key: pem("unknown.key"),
  },
};

Deno.test("a name that leads elsewhere delivers nothing there", async (t) => {
  for (const [name, tls] of Object.entries(ELSEWHERE)) {
    await t.step(name, async () => {
      let requests = 0;
      const at = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
      await using server = Deno.serve({ ...at, ...tls }, () => {
        requests++;
        return new Response();
      });
      const reason = await postWebhook(
        { id: "msg_1", atMs: 0, body: "{}" },
        {
          url: `https://127.0.0.1:${server.addr.port}/`,
          secret: newWebhookSecret(),
        },
        new AbortController().signal,
      );
      assert.equal(reason, "the address could not be reached");
      assert.equal(requests, 0);
    });
  }
});
