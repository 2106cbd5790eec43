/** Explains why a target gives no reply, with what the user can do about it. */
import type { Exchange } from "../evidence/exchange.ts";

/** Causes by the words of the network error that reports them. */
const CAUSES: readonly (readonly [words: RegExp, cause: string])[] = [
  [/connection refused/i, "nothing listens there"],
  [/dns error|failed to lookup/i, "its host name cannot be resolved"],
  [
    /certificate/i,
    "its certificate is not accepted (a private authority: DENO_CERT=FILE; the authorities of the system: DENO_TLS_CA_STORE=system)",
  ],
  [
    /InvalidContentType|corrupt message/,
    "the port does not speak TLS; the address may need http://",
  ],
  [
    /invalid HTTP version|connection (was )?(closed|reset) before|IncompleteMessage/i,
    "the port does not speak HTTP; the address may need https://",
  ],
];

/** One line about a request without a reply. */
export function unreachableText(
  baseUrl: string,
  { ending, endedMs, problem = "" }: Exchange,
): string {
  if (ending === "timeout") {
    return `${baseUrl} does not answer GET /v1/models within ${
      (endedMs / 1000).toFixed(0)
    } s (--timeout=SECONDS waits longer)`;
  }
  const known = CAUSES.find(([words]) => words.test(problem))?.[1];
  const words = problem.replace(/^.*client error \(\w+\): /s, "");
  return known === undefined
    ? `${baseUrl} does not answer: ${words || ending}`
    : `${baseUrl} does not answer: ${known}. The error is: ${words}`;
}
