import assert from "node:assert/strict";
import { serveLoopback } from "../support/serve_loopback.ts";
import {
  type AdvisoryList,
  faultsOf,
  inStep,
  lockedPackages,
  NoAnswerError,
  renewed,
} from "./advisory_list.ts";

const read = (name: string): Promise<string> =>
  Deno.readTextFile(new URL(`../../${name}`, import.meta.url));

Deno.test("advisories.json has every locked package, and a reason for every known vulnerability", async () => {
  const locked = lockedPackages(await read("deno.lock"));
  assert.ok(locked.length > 100);
  // `deno task advisories` writes it.
  const list = JSON.parse(await read("advisories.json")) as AdvisoryList;
  assert.deepEqual(faultsOf(list, locked), []);
});

const LOCKED = ["@a/b@1.0.0", "c@2.0.0", "c@3.0.0"];
const ADVISORY = {
  package: "c",
  url: "https://example.com/1",
  title: "A title",
  severity: "high",
  versions: "<2.5.0",
  reason: "",
};
const LIST: AdvisoryList = {
  packages: { "@a/b@1.0.0": "2026-01-01", "old@1.0.0": "2026-01-01" },
  advisories: [{ ...ADVISORY, reason: "not used" }],
};

Deno.test("a lock file's packages are named without their peers, each once", () => {
  const npm = {
    "c@2.0.0_@a+b@1.0.0": {},
    "@a/b@1.0.0": {},
    "c@2.0.0_d@1.0.0": {},
    "c@3.0.0": {},
  };
  assert.deepEqual(lockedPackages(JSON.stringify({ npm })), LOCKED);
});

Deno.test("a list that is not in step, or lacks a reason, has faults", () => {
  assert.equal(faultsOf(LIST, LOCKED).length, 3);
  const packages = Object.fromEntries(LOCKED.map((one) => [one, null]));
  const gone = { ...ADVISORY, package: "old", reason: "not used" };
  const faults = faultsOf({ packages, advisories: [ADVISORY, gone] }, LOCKED);
  assert.deepEqual(faults, [
    "old is not locked: https://example.com/1",
    "c has no reason: https://example.com/1",
  ]);
  assert.deepEqual(inStep(LIST, LOCKED).packages, {
    "@a/b@1.0.0": "2026-01-01",
    "c@2.0.0": null,
    "c@3.0.0": null,
  });
});

Deno.test("what the registry knows is listed, and reasons are kept", async () => {
  let asked: unknown;
  await using registry = serveLoopback(async (request) => {
    asked = await request.json();
    const { url, title, severity, versions } = ADVISORY;
    const known = { url, title, severity, vulnerable_versions: versions };
    return Response.json({ c: [known, { ...known, url: `${url}1` }] });
  });
  const url = `http://127.0.0.1:${registry.addr.port}/`;
  const list = await renewed(LIST, LOCKED, url, "2026-12-31");
  assert.deepEqual(asked, { "@a/b": ["1.0.0"], c: ["2.0.0", "3.0.0"] });
  assert.deepEqual(list.advisories, [
    { ...ADVISORY, reason: "not used" },
    { ...ADVISORY, url: `${ADVISORY.url}1` },
  ]);
  assert.equal(list.packages["c@3.0.0"], "2026-12-31");
});

Deno.test("a registry that does not answer is an error, and marks nothing as looked up", async () => {
  await using registry = serveLoopback(() =>
    new Response(null, { status: 405 })
  );
  const url = `http://127.0.0.1:${registry.addr.port}/`;
  await assert.rejects(
    renewed(LIST, LOCKED, url, "2026-12-31"),
    (error) => error instanceof NoAnswerError && /405/.test(error.message),
  );
});
