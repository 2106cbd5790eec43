import assert from "node:assert/strict";
import { ApiError } from "../../../translate/model/error.ts";
import { fakeClock } from "../../../tests/support/fake_clock.ts";
import { CredentialError } from "./credential.ts";
import { type Token, TokenHolder } from "./token_holder.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A source whose requests the test answers. */
function heldSource() {
  const clock = fakeClock();
  const requests: PromiseWithResolvers<Token>[] = [];
  const changes: (string | undefined)[] = [];
  const holder = new TokenHolder<Token>(() => {
    const request = Promise.withResolvers<Token>();
    requests.push(request);
    return request.promise;
  }, {
    ...clock,
    onChange: ({ failure }) => changes.push(failure?.reason),
  });
  const token = (id: string, lifeMs = HOUR_MS): Token => ({
    id,
    expiresAtMs: clock.now() + lifeMs,
  });
  return { changes, clock, requests, holder, token };
}

async function started() {
  const source = heldSource();
  const first = source.holder.token();
  source.requests[0]?.resolve(source.token("one"));
  assert.equal((await first).id, "one");
  return source;
}

/** The token is given at once. */
function assertHeld(holder: TokenHolder<Token>, id: string): void {
  const token = holder.token();
  assert.ok(!(token instanceof Promise));
  assert.equal(token.id, id);
}

/** Lets every settled promise run its continuations. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("token() makes one request for ten callers at once", async () => {
  const { holder, requests, token } = heldSource();
  const calls = Array.from({ length: 10 }, () => holder.token());
  assert.equal(requests.length, 1);
  requests[0]?.resolve(token("one"));
  const ids = (await Promise.all(calls)).map(({ id }) => id);
  assert.deepEqual(new Set(ids), new Set(["one"]));
  assert.equal(requests.length, 1);
});

Deno.test("token() is no promise while the token is fresh", async () => {
  const { clock, holder, requests } = await started();
  clock.advance(HOUR_MS - 5 * MINUTE_MS - 1);
  assertHeld(holder, "one");
  assert.equal(requests.length, 1);
});

Deno.test("token() returns the old token while one refresh runs to its end", async () => {
  const { clock, holder, requests, token } = await started();
  clock.advance(HOUR_MS - 5 * MINUTE_MS);
  for (let i = 0; i < 5; i++) {
    assertHeld(holder, "one");
  }
  assert.equal(requests.length, 2);
  requests[1]?.resolve(token("two"));
  await settle();
  assertHeld(holder, "two");
  assert.deepEqual(holder.known().map(({ id }) => id), ["two", "one"]);
});

Deno.test("token() waits for the refresh once the old token has expired", async () => {
  const { clock, holder, requests, token } = await started();
  clock.advance(HOUR_MS - MINUTE_MS);
  assert.ok(!(holder.token() instanceof Promise));
  clock.advance(MINUTE_MS);
  const waiting = holder.token();
  assert.ok(waiting instanceof Promise);
  assert.equal(requests.length, 2);
  requests[1]?.resolve(token("two"));
  assert.equal((await waiting).id, "two");
});

Deno.test("token() refreshes a token of four minutes after two, not at each call", async () => {
  const { clock, holder, requests, token } = heldSource();
  const first = holder.token();
  requests[0]?.resolve(token("short", 4 * MINUTE_MS));
  await first;
  clock.advance(2 * MINUTE_MS - 1);
  assert.ok(!(holder.token() instanceof Promise));
  assert.equal(requests.length, 1);
  clock.advance(1);
  assert.ok(!(holder.token() instanceof Promise));
  assert.equal(requests.length, 2);
});

Deno.test("a failed refresh is retried after 1, 2, 4 … 60 s; calls in between fail at once", async () => {
  const { clock, holder, requests } = heldSource();
  const failedAt = clock.now();
  const first = holder.token();
  requests[0]?.reject(new CredentialError("metadata server: unreachable"));
  await assert.rejects(
    Promise.resolve(first),
    (error) =>
      error instanceof ApiError && error.kind === "upstream" &&
      error.details.note === "metadata server: unreachable",
  );
  const waits: number[] = [];
  for (let i = 1; i <= 9; i++) {
    waits.push(await clock.timer(() => true));
    await assert.rejects(Promise.resolve(holder.token()));
    assert.equal(requests.length, i, "no request before the wait is over");
    clock.advance(waits.at(-1) ?? 0);
    assert.equal(requests.length, i + 1);
    requests[i]?.reject(new CredentialError("metadata server: unreachable"));
    await settle();
  }
  assert.deepEqual(
    waits.map((ms) => ms / 1000),
    [1, 2, 4, 8, 16, 32, 60, 60, 60],
  );
  assert.deepEqual(holder.state(), {
    usable: false,
    failure: { sinceMs: failedAt, reason: "metadata server: unreachable" },
  });
  holder.close();
  assert.equal(clock.pending(), 0);
});

Deno.test("a holder whose source was out of reach recovers without a call", async () => {
  const { changes, clock, holder, requests, token } = heldSource();
  const start = holder.start();
  requests[0]?.reject(new Error("a text that may repeat a token"));
  await start;
  assert.equal(holder.state().usable, false);
  assert.equal(holder.state().failure?.reason, "Error");
  clock.advance(1_000);
  requests[1]?.reject(new Error("again"));
  await settle();
  clock.advance(2_000);
  requests[2]?.resolve(token("one"));
  await settle();
  assert.deepEqual(holder.state(), { usable: true });
  assert.deepEqual(changes, ["Error", undefined], "reported once each");
  assert.ok(!(holder.token() instanceof Promise));
});

Deno.test("while refreshes fail, the old token is returned until it expires", async () => {
  const { clock, holder, requests } = await started();
  clock.advance(HOUR_MS - 5 * MINUTE_MS);
  holder.token();
  requests[1]?.reject(new CredentialError("token endpoint: status 503"));
  await settle();
  assertHeld(holder, "one");
  assert.equal(requests.length, 2, "the retry waits");
  assert.equal(holder.state().usable, true);
  assert.equal(holder.state().failure?.reason, "token endpoint: status 503");
  holder.close();
});

Deno.test("refused() drops the token and resolves to whether there is another", async () => {
  const { holder, requests, token } = await started();
  const another = holder.refused("one");
  assert.equal(requests.length, 2);
  requests[1]?.resolve(token("two"));
  assert.equal(await another, true);
  assert.equal((await holder.token()).id, "two");
});

Deno.test("refused() drops exactly the token that was refused", async () => {
  const { holder, requests, token } = await started();
  const another = holder.refused("one");
  requests[1]?.resolve(token("two"));
  await another;
  assert.equal(await holder.refused("one"), true, "there is a newer one");
  assert.equal(requests.length, 2);
  assert.equal((await holder.token()).id, "two");
});

Deno.test("refused() is false if the source gives the same token, or none", async () => {
  const { clock, holder, requests, token } = await started();
  const same = holder.refused("one");
  requests[1]?.resolve(token("one"));
  assert.equal(await same, false);
  clock.advance(2 * MINUTE_MS);
  const none = holder.refused("one");
  requests[2]?.reject(new CredentialError("out of reach"));
  assert.equal(await none, false);
  holder.close();
});

Deno.test("tokens that are refused again and again are refreshed once a minute at most", async () => {
  const { clock, holder, requests, token } = await started();
  let refreshes = 0;
  for (let second = 0; second < 600; second++) {
    const held = holder.token();
    assert.ok(!(held instanceof Promise));
    const another = holder.refused(held.id);
    if (requests.length > refreshes + 1) {
      refreshes++;
      requests.at(-1)?.resolve(token(`refresh ${refreshes}`));
    }
    await another;
    clock.advance(1_000);
  }
  assert.ok(refreshes >= 10 && refreshes <= 16, `${refreshes}`);
});
