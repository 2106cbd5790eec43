/** What an operator can set as the address of a webhook. */
import assert from "node:assert/strict";
import { webhookUrl } from "./values.ts";

const REFUSED: Readonly<Record<string, RegExp>> = {
  "https://169.254.169.254/latest/meta-data": /link-local/,
  "https://2852039166/": /link-local/,
  "https://0xa9fea9fe/": /link-local/,
  "https://[fe80::1]/": /link-local/,
  "https://[::ffff:169.254.169.254]/": /link-local/,
  "https://[fd00:ec2::254]/": /link-local/,
  "https://[64:ff9b::a9fe:a9fe]/": /link-local/,
  "https://[2002:a9fe:a9fe::]/": /link-local/,
  "https://[::169.254.169.254]/": /link-local/,
  "https://[::ffff:0:169.254.169.254]/": /link-local/,
  "https://0.0.0.0/": /link-local/,
  "https://[::]/": /link-local/,
  "http://10.0.0.5/": /https:/,
  "http://hooks.example.com/": /https:/,
  "https://user:word@hooks.example.com/": /user name/,
  "https://hooks.example.com/#part": /fragment/,
  "file:///etc/passwd": /https:/,
  "hooks.example.com": /https:/,
};

const ACCEPTED: readonly string[] = [
  "https://hooks.example.com/gateway?team=search",
  // A company's receivers are in its own network.
  "https://10.0.0.5/gateway",
  "https://192.168.1.20:8443/",
  "https://[fd12:3456::1]/",
  "http://localhost:8080/",
  "http://127.0.0.1:8080/",
  "http://[::1]:8080/",
];

Deno.test("a webhook goes to https anywhere but link-local addresses, and to http on this machine", () => {
  for (const [url, message] of Object.entries(REFUSED)) {
    const { success, error } = webhookUrl.safeParse(url);
    assert.ok(!success, url);
    assert.match(error.issues[0]?.message ?? "", message, url);
  }
  for (const url of ACCEPTED) assert.ok(webhookUrl.safeParse(url).success, url);
});
