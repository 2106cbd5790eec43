/**
 * Tables of requests through the whole gateway; those of the translation alone are in
 * `translate/requests/`. Each row is one test step; all rows use one gateway, in order, so the last
 * entry of the replay server's journal belongs to the current row.
 */
import assert from "node:assert/strict";
import { fieldPath } from "../../../translate/model/schema.ts";
import {
  type RequestRow,
  valueAt,
} from "../../../translate/testing/request_table.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../test_gateway.ts";

/** One request through the gateway and what is expected of it. */
export interface SentRow extends Omit<RequestRow, "arrivesWithHeaders"> {
  /** Sent in addition to the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Expected status; absent: 200, or 400 where `param` is set. */
  readonly status?: number;
  /** Expected headers at the upstream; undefined: the header is absent. */
  readonly arrivesWithHeaders?: Readonly<Record<string, string | undefined>>;
}

interface SendResult {
  /** The gateway's response; its body has been read. */
  readonly response: Response;
  /** Body of the gateway's response: parsed if it is JSON, else text. */
  readonly answer: unknown;
  /** Parsed body that arrived upstream; undefined if no request arrived. */
  readonly upstreamJson: unknown;
  /** The same body as text. */
  readonly upstreamText: string | undefined;
  readonly upstreamHeaders: Readonly<Record<string, string>>;
  /** Path and query that the gateway called upstream. */
  readonly upstreamPath: string | undefined;
}

/**
 * Sends one request, reads the response to its end, and returns it with the request that arrived
 * upstream.
 */
export async function send(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<SendResult> {
  gateway.replay.requestLog.clear();
  const response = await gateway.post(path, body, headers);
  const text = await response.text();
  const entry = gateway.replay.requestLog.entries.at(-1);
  return {
    response,
    answer: text.startsWith("{") ? JSON.parse(text) : text,
    upstreamJson: entry?.json,
    upstreamText: entry?.request.body,
    upstreamHeaders: entry?.request.headers ?? {},
    upstreamPath: entry?.request.path,
  };
}

export async function checkRows(
  t: Deno.TestContext,
  path: string,
  base: Readonly<Record<string, unknown>>,
  rows: readonly SentRow[],
  options: TestGatewayOptions = {},
): Promise<void> {
  await using gateway = await startTestGateway(options);
  for (const row of rows) {
    await t.step(
      row.name,
      async () => await checkRow(gateway, path, base, row),
    );
  }
}

async function checkRow(
  gateway: TestGateway,
  path: string,
  base: Readonly<Record<string, unknown>>,
  row: SentRow,
): Promise<void> {
  const arrival = await send(
    gateway,
    path,
    { ...base, ...row.body },
    row.headers,
  );
  const { response, answer, upstreamJson: json } = arrival;
  const shown = JSON.stringify(answer);
  assert.equal(
    response.status,
    row.status ?? (row.param === undefined ? 200 : 400),
    shown,
  );
  if (row.param !== undefined) {
    assert.equal(valueAt(answer, "error.param"), row.param, shown);
    assert.equal(json, undefined, "it reached the upstream");
    return;
  }
  for (const [where, expected] of Object.entries(row.arrives ?? {})) {
    assert.deepEqual(
      valueAt(json, where),
      expected,
      `${where} of ${arrival.upstreamText}`,
    );
  }
  for (const expected of row.arrivesContaining ?? []) {
    assert.ok(
      arrival.upstreamText?.includes(expected) === true,
      `${expected} in ${arrival.upstreamText}`,
    );
  }
  for (const [name, expected] of Object.entries(row.arrivesWithHeaders ?? {})) {
    assert.equal(arrival.upstreamHeaders[name], expected, name);
  }
  const dropped = response.headers.get("x-gateway-dropped");
  assert.deepEqual(
    dropped === null ? [] : dropped.split(/,\s*/).sort(),
    [...row.dropped ?? []].sort(),
  );
}

/** Paths of every entry of a JSON value that `wanted` accepts. */
export function pathsOf(
  value: unknown,
  wanted: (key: PropertyKey, value: unknown) => boolean,
  above: readonly PropertyKey[] = [],
): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const key = Array.isArray(value) ? Number(name) : name;
    const path = [...above, key];
    return [
      ...(wanted(key, inner) ? [fieldPath(path)] : []),
      ...pathsOf(inner, wanted, path),
    ];
  });
}
