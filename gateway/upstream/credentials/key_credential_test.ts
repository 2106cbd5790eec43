import assert from "node:assert/strict";
import { fakeClock } from "../../../tests/support/fake_clock.ts";
import type { Credential, HostAuth } from "./credential.ts";
import { keyCredential } from "./key_credential.ts";
import { type Files, KeyFile } from "./key_file.ts";

const AZURE: HostAuth = { schemes: ["header", "entra"], header: "api-key" };
const BEARER: HostAuth = { schemes: ["bearer"] };
const BOTH: HostAuth = { schemes: ["bearer", "header"], header: "x-api-key" };
const NO_HEADERS = { header: () => undefined };

const call = (auth: HostAuth) => ({
  url: "https://host.example/v1/messages",
  body: new Uint8Array(),
  auth,
});

/** A file that the test writes; counts how often it is looked at and read. */
function writtenFile(key: string) {
  const clock = fakeClock();
  const state = { text: key, version: 1, looks: 0, reads: 0, isGone: false };
  const files: Files = {
    text() {
      state.reads++;
      return Promise.resolve(state.text);
    },
    version() {
      state.looks++;
      return state.isGone
        ? Promise.reject(new Deno.errors.NotFound())
        : Promise.resolve(state.version);
    },
  };
  const changes: boolean[] = [];
  const file = new KeyFile("secrets/key", key, files, {
    now: clock.now,
    onChange: ({ failure }) => changes.push(failure === undefined),
  });
  return { clock, state, file, changes };
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

/** Makes a call and waits for the look at the file that it begins. */
const lookOf = (credential: Credential) => async () => {
  credential.headers(call(AZURE));
  await settle();
};

Deno.test("keyCredential() sends a key in the forms that the host takes", async () => {
  const credential = keyCredential(["key-1"]);
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-1" });
  assert.deepEqual(credential.headers(call(BEARER)), {
    authorization: "Bearer key-1",
  });
  assert.deepEqual(credential.headers(call(BOTH)), {
    authorization: "Bearer key-1",
    "x-api-key": "key-1",
  });
  assert.deepEqual(credential.secrets(), ["key-1"]);
  await credential.start();
  assert.deepEqual(credential.state(), { usable: true });
});

Deno.test("keyCredential() makes the headers once", () => {
  const credential = keyCredential(["key-1"]);
  const headers = credential.headers(call(AZURE));
  assert.equal(credential.headers(call(AZURE)), headers);
});

Deno.test("keyCredential() uses the first key that was not refused", async () => {
  const credential = keyCredential(["key-1", "key-2"]);
  const sent = await credential.headers(call(AZURE));
  assert.equal(await credential.refused(sent, NO_HEADERS), true);
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-2" });
  // Late: the other key is in use already.
  assert.equal(await credential.refused(sent, NO_HEADERS), true);
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-2" });
});

Deno.test("keyCredential() with all keys refused lets them take turns", async () => {
  const credential = keyCredential(["key-1", "key-2"]);
  const used: string[] = [];
  const others: boolean[] = [];
  for (let i = 0; i < 4; i++) {
    const sent = await credential.headers(call(BEARER));
    used.push(sent["authorization"]?.replace("Bearer ", "") ?? "");
    others.push(await credential.refused(sent, NO_HEADERS));
  }
  assert.deepEqual(used, ["key-1", "key-2", "key-1", "key-2"]);
  assert.deepEqual(others, [true, false, false, false]);
});

Deno.test("keyCredential() lets a limited key rest, and uses the one that is due back first", async () => {
  const clock = fakeClock();
  const credential = keyCredential(["key-1", "key-2"], clock.now);
  const sent = async () => await credential.headers(call(AZURE));
  assert.equal(credential.rest?.(await sent(), 2_000), true);
  assert.deepEqual(await sent(), { "api-key": "key-2" });
  assert.equal(credential.rest?.(await sent(), 9_000), false);
  assert.deepEqual(await sent(), { "api-key": "key-1" });
  clock.advance(2_000);
  assert.equal(credential.rest?.(await sent(), 9_000), false);
  assert.deepEqual(await sent(), { "api-key": "key-2" });
});

Deno.test("keyCredential() lets no only key rest", async () => {
  const credential = keyCredential(["key-1"]);
  const sent = await credential.headers(call(AZURE));
  assert.equal(credential.rest?.(sent, 1_000), false);
});

Deno.test("keyCredential() with its only key refused keeps it", async () => {
  const credential = keyCredential(["key-1"]);
  const sent = await credential.headers(call(BEARER));
  assert.equal(await credential.refused(sent, NO_HEADERS), false);
  assert.equal(credential.headers(call(BEARER)), sent);
});

Deno.test("a key file is looked at every five seconds at most, and read when it changed", async () => {
  const { clock, state, file } = writtenFile("key-1");
  const credential = keyCredential([file]);
  const look = lookOf(credential);
  await look();
  const { reads } = state;
  for (let i = 0; i < 10; i++) credential.headers(call(AZURE));
  clock.advance(4_999);
  await look();
  assert.equal(state.looks, 1);
  clock.advance(1);
  await look();
  assert.equal(state.looks, 2);
  assert.equal(state.reads, reads, "not read without a change");
  state.text = "key-2\n";
  state.version = 2;
  clock.advance(5_000);
  // The call does not wait for the look.
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-1" });
  await settle();
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-2" });
  assert.deepEqual(credential.secrets(), ["key-2", "key-1"]);
});

Deno.test("a key file is read at once after a refusal", async () => {
  const { state, file } = writtenFile("key-1");
  const credential = keyCredential([file]);
  const sent = await credential.headers(call(AZURE));
  await settle();
  // The same modification time: the clock of a file system is coarse.
  state.text = "key-2";
  assert.equal(await credential.refused(sent, NO_HEADERS), true);
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-2" });
  // A late refusal of the old key does not concern the new one.
  assert.equal(await credential.refused(sent, NO_HEADERS), true);
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-2" });
});

Deno.test("a key file that is empty or gone leaves the last key in use", async () => {
  const { clock, state, file, changes } = writtenFile("key-1");
  const credential = keyCredential([file]);
  const look = lookOf(credential);
  for (
    const broken of [
      () => state.text = "",
      () => state.text = "two words",
      () => state.isGone = true,
    ]
  ) {
    broken();
    state.version++;
    clock.advance(5_000);
    await look();
    assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-1" });
    assert.match(
      credential.state().failure?.reason ?? "",
      /^no key could be read from secrets\/key/,
    );
  }
  const sinceMs = credential.state().failure?.sinceMs ?? 0;
  assert.equal(clock.now() - sinceMs, 10_000, "since the first failure");
  state.isGone = false;
  state.text = "key-3";
  clock.advance(5_000);
  await look();
  assert.deepEqual(credential.headers(call(AZURE)), { "api-key": "key-3" });
  assert.deepEqual(credential.state(), { usable: true });
  assert.deepEqual(changes, [false, true], "reported once each");
});
