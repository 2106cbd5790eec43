/** The end of a run in text: counts by endpoint and level. */
import { areaOf, type Level } from "../suite/check.ts";
import type { Result, Verdict } from "../run/judge.ts";

/** The endpoint of each area that judges one. */
const ENDPOINT_OF: Readonly<Record<string, string>> = {
  message_reply: "POST /v1/messages",
  message_stream: "POST /v1/messages",
  chat_reply: "POST /v1/chat/completions",
  chat_stream: "POST /v1/chat/completions",
  models: "GET /v1/models",
  responses: "POST /v1/responses",
  web_socket: "GET /v1/responses",
  generate_content: "POST /v1beta/models/{model}:generateContent",
  embeddings: "POST /v1/embeddings",
};

export const LEVELS: readonly Level[] = [
  "documented",
  "convention",
  "contract",
];

/** The endpoint that a result belongs to; `several operations` for areas of more than one. */
export function endpointOf({ check }: Result): string {
  return ENDPOINT_OF[areaOf(check)] ?? "several operations";
}

/** For each endpoint and level, the number of passed checks among those judged. */
export function cellsOf(
  results: readonly Result[],
): (readonly [endpoint: string, cells: readonly string[]])[] {
  const endpoints = [...new Set(results.map(endpointOf))].sort();
  const cell = (endpoint: string, level: Level): string => {
    const own = results.filter((result) =>
      endpointOf(result) === endpoint && result.check.level === level
    );
    if (own.length === 0) return "–";
    return `${countOf(own, "pass")}/${own.length}`;
  };
  return endpoints.map((endpoint) =>
    [endpoint, LEVELS.map((level) => cell(endpoint, level))] as const
  );
}

export function summaryTable(results: readonly Result[]): string {
  const rows = cellsOf(results);
  const width = Math.max(...rows.map(([name]) => name.length), 8);
  return [["", LEVELS] as const, ...rows].map(([endpoint, cells]) =>
    [endpoint.padEnd(width), ...cells.map((cell) => cell.padStart(12))].join("")
  ).join("\n");
}

export function countOf(results: readonly Result[], verdict: Verdict): number {
  return results.filter((result) => result.verdict === verdict).length;
}
