/**
 * Explains a failure without knowledge of the suite: sentence, expected, actual, frames, exchange,
 * and how to repeat it.
 */
import type { Exchange } from "../evidence/exchange.ts";
import { outcome } from "../suite/evidence.ts";
import type { Finding } from "../suite/finding.ts";
import type { Result } from "../run/judge.ts";

/** Number of frames shown before and after the wrong one. */
const AROUND = 2;

const MAX_FINDINGS = 4;

interface ExplainContext {
  /** The command line that repeats a check, without the filter. */
  readonly command: string;
  readonly baseUrl: string;
  readonly fileOf: (exchange: Exchange) => string;
}

/** Explains a check that did not pass. */
export function explain(result: Result, around: ExplainContext): string {
  const { check, findings, why } = result;
  const { rule } = check;
  const source = "section" in rule
    ? `specification, ${rule.section}`
    : rule.source;
  const bad = findings.filter(({ verdict }) => verdict !== "pass");
  const lines = [
    `  "${rule.text}"`,
    `  (${source})`,
    ...(why === undefined ? [] : [`  ${why}`]),
    ...bad.slice(0, MAX_FINDINGS).flatMap((finding, at, shown) => [
      ...findingLines(finding),
      // Findings about the same exchange share its lines.
      ...(shown[at + 1]?.exchange === finding.exchange
        ? []
        : exchangeLines(finding.exchange, around)),
    ]),
    ...(bad.length > MAX_FINDINGS
      ? [`  … and ${bad.length - MAX_FINDINGS} more findings of the same check`]
      : []),
    `  repeat    ${around.command} --filter=${check.id}`,
  ];
  return lines.join("\n");
}

function findingLines(finding: Finding): string[] {
  const { fact, expected, actual, exchange, frame } = finding;
  const lines = [
    `  ${exchange === undefined ? "" : `${exchange.label}: `}${fact}`,
    `    expected  ${expected}`,
    `    actual    ${actual}`,
  ];
  if (exchange === undefined || frame === undefined) return lines;
  return [...lines, ...framesAround(exchange, frame)];
}

function exchangeLines(
  exchange: Exchange | undefined,
  around: ExplainContext,
): string[] {
  if (exchange === undefined) return [];
  const lines = [`    reply     ${outcome(exchange).slice(0, 200)}`];
  for (const call of exchange.upstream.slice(0, 3)) {
    lines.push(
      `    upstream  #${call.id} ${call.method} ${call.path} → ${call.status}, ${
        call.ending ?? "still open"
      }`,
    );
  }
  lines.push(`    exchange  ${around.fileOf(exchange)}`);
  lines.push(`    ${curlOf(exchange, around.baseUrl)}`);
  return lines;
}

function framesAround({ frames }: Exchange, at: number): string[] {
  return frames.slice(Math.max(0, at - AROUND), at + AROUND + 1).map((frame) =>
    `    ${frame.at === at ? "→" : " "} ${String(frame.at).padStart(3)}  +${
      frame.atMs.toFixed(0)
    } ms  ${frame.event ?? "data"}  ${frame.data.slice(0, 120)}`
  );
}

/** The text quoted as one shell word. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The exchange as a curl command, with the key from the environment. */
export function curlOf({ request }: Exchange, baseUrl: string): string {
  if (request.client === "raw") {
    return "curl      (sent as bytes over a socket: see the exchange file)";
  }
  if (/\{\{KEY~*\}\}/.test(JSON.stringify(request.headers) + request.path)) {
    return "curl      (sent with a text derived from the key, see the name of the exchange: it is not recorded)";
  }
  const headers = request.headers.map(([name, value]) => {
    const text = `${name}: ${value}`;
    const masked = /\{\{KEY[*+]*\}\}/;
    return masked.test(text)
      ? `-H "${
        text.replaceAll(/["\\$`]/g, "\\$&").replace(
          masked,
          (mask) =>
            mask.includes("+")
              ? "$CONFORMANCE_OTHER_KEY"
              : "$CONFORMANCE_API_KEY",
        )
      }"`
      : `-H ${quoted(text)}`;
  });
  return [
    `curl -sN -X ${request.method}`,
    quoted(baseUrl + request.path),
    ...headers,
    ...(request.body === "" ? [] : [`--data-binary ${quoted(request.body)}`]),
  ].join(" ");
}

export function transcript(exchange: Exchange): string {
  const { request, head, frames, text, ending, endedMs, problem } = exchange;
  const sent = request.rawHead ??
    [
      `${request.method} ${request.path}`,
      ...request.headers.map(([name, value]) => `${name}: ${value}`),
      "",
      "",
    ].join("\r\n");
  const reply = head === undefined ? ["(no reply)"] : [
    `HTTP ${head.status}   +${head.atMs} ms`,
    ...head.headers.map(([name, value]) => `${name}: ${value}`),
    "",
    frames.length === 0
      ? text
      : frames.map((frame) =>
        `[${frame.at}, +${frame.atMs} ms]${
          frame.event === undefined ? "" : ` event: ${frame.event}`
        }\ndata: ${frame.data}\n`
      ).join("\n"),
  ];
  const upstream = exchange.upstream.map((call) =>
    `\n--- upstream call ${call.id}: ${call.method} ${call.path} → ${call.status}, ${
      call.ending ?? "still open"
    }\n${call.body}`
  );
  return [
    `--- ${exchange.scenario} / ${exchange.label}\n`,
    `${sent}${request.body}\n`,
    `--- reply`,
    ...reply,
    `--- ${ending} after ${endedMs} ms${
      problem === undefined ? "" : `: ${problem}`
    }`,
    ...upstream,
    "",
  ].join("\n");
}
