import assert from "node:assert/strict";
import { requestHead, upstreamAddress } from "./request_head.ts";

Deno.test("requestHead() writes the request line, the host and the headers", () => {
  const address = upstreamAddress("https://[::1]:8443/v1/a b?x=1");
  assert.equal(
    requestHead(address, { "x-key": "é", accept: "a/b" }, 7),
    "POST /v1/a%20b?x=1 HTTP/1.1\r\nhost: [::1]:8443\r\nconnection: keep-alive\r\n" +
      "x-key: é\r\naccept: a/b\r\ncontent-length: 7\r\n\r\n",
  );
  const { hostname, port, isTls, origin } = address;
  assert.deepEqual([hostname, port, isTls, origin], [
    "::1",
    8443,
    true,
    "https://[::1]:8443",
  ]);
  assert.equal(upstreamAddress("http://upstream/").port, 80);
});

Deno.test("requestHead() refuses headers that would change the request", async (t) => {
  const address = upstreamAddress("http://upstream/");
  for (
    const [name, value] of [
      ["x", "a\r\nb: c"],
      ["x", "a\nb"],
      ["x", "a\0"],
      ["x", "中"],
      ["x y", "a"],
      ["x:", "a"],
      ["", "a"],
    ]
  ) {
    await t.step(JSON.stringify([name, value]), () => {
      assert.throws(
        () => requestHead(address, { [String(name)]: String(value) }, 0),
        TypeError,
      );
    });
  }
});
