/**
 * Checks of the area `upstream`: the client's reply for each refusal of the upstream, on both
 * endpoints, whole and streamed.
 */
import { compare, factOf, some, statusIs } from "../../suite/finding.ts";
import {
  type Check,
  checksWith,
  pick,
  sharedFaults,
} from "../../suite/check.ts";
import { brokenByRefusals, changed, REFUSAL_FAULTS } from "./faults.ts";
import { type Exchange, headerOf } from "../../evidence/exchange.ts";
import { at, brief, textAt } from "../../evidence/json_path.ts";
import {
  TYPED_ERRORS,
  VENDOR_ERRORS,
} from "@model-gateway/replay/vendor_errors";
import {
  ODD_FAULTS,
  STATUSES,
  WAIT_SECONDS,
  WAITING,
} from "./scenarios_refusals.ts";
import type { Evidence } from "../../suite/evidence.ts";

/**
 * The statuses that represent a status of the upstream correctly; undefined means any of 500 to
 * 599.
 */
const REPORTED_AS: Readonly<Record<number, readonly number[] | undefined>> = {
  400: [400],
  404: [404, 500, 502, 503],
  408: [408, 500, 502, 503, 504],
  413: [413],
  422: [400, 422],
  429: [429],
  500: [500, 502],
  502: [502, 500, 503],
  503: [503, 529],
  504: [504, 502, 503],
  529: [529, 503],
};

/** Reasons of the rules for single statuses. */
const REASONS: Readonly<Record<number, string>> = {
  401: "the operator's key is refused, and the client's is not at fault",
  402: "the operator's account is empty, and the client's is not at fault",
  403: "the operator's key lacks permission, and the client's is not at fault",
};

/**
 * Refusals of the request itself: the client can fix it only when it receives the upstream's
 * message.
 */
const CALLERS = [400, 413, 422] as const;

/** Refusals for which a retry is useless. */
const FINAL = [400, 401, 403, 404, 413, 422] as const;

/** A gateway may retry a busy upstream, but not endlessly. */
const MOST_CALLS = 5;

const SOURCE =
  "Client libraries decide by the status: 401 and 403 blame the client's key, 429 and 5xx are retried, other 4xx are reported";

function both(e: Evidence, name: string): readonly Exchange[] {
  return [
    ...e.matching(`*/*/${name}-whole`),
    ...e.matching(`*/*/${name}-stream`),
  ];
}

function inside(x: Exchange, least: number, most: number) {
  const status = x.head?.status ?? 0;
  return factOf("status", x.head?.status ?? x.ending, x).mustBe(
    `${least} to ${most}`,
    status >= least && status <= most,
  );
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/**
 * The vendor's message for that status in the dialect of the exchange, up to the name of its model.
 */
function vendorWords(x: Exchange, status: number): string {
  const via = x.via === "responses" ? "chat_completions" : x.via ?? "messages";
  return flat(VENDOR_ERRORS[status]?.[via].message ?? "");
}

/** What a typed error has beside its message, where client and upstream have one format. */
const OWN_FIELD: Readonly<
  Record<string, keyof typeof TYPED_ERRORS | undefined>
> = {
  "messages from messages": "details",
  "chat from chat_completions": "misalignment",
};

export const REFUSAL_CHECKS: readonly Check[] = checksWith({
  mode: "replay",
  reads: ["odd-refusals"],
}, [
  ...STATUSES.map((status) => {
    const statuses = REPORTED_AS[status];
    const words = statuses?.join(", ") ?? "5xx";
    return {
      id: `upstream.status-${status}`,
      source: SOURCE,
      rule: `A status ${status} of the upstream is reported as ${words}${
        REASONS[status] === undefined ? "" : `: ${REASONS[status]}`
      }.`,
      reads: ["upstream-refusals"],
      judge: (e: Evidence) =>
        both(e, String(status)).map((x) =>
          statuses === undefined
            ? inside(x, 500, 599)
            : statusIs(x, ...statuses)
        ),
      faults: pick(
        REFUSAL_FAULTS,
        `status-${status}-misread`,
        "refused-streams-are-200",
      ),
    };
  }),
  ...Object.keys(ODD_FAULTS).map((name) => ({
    id: `upstream.odd-${name}`,
    source: SOURCE,
    rule:
      `An undocumented fault of the upstream (${name}) is reported as 5xx, with a JSON error and without the upstream's page.`,
    judge: (e: Evidence) =>
      both(e, name).flatMap((x) => [
        inside(x, 500, 599),
        factOf("error.message", x.text.slice(0, 160), x).mustBe(
          "a text that is not an HTML page",
          textAt(x.json, "error.message").trim() !== "" &&
            !/<\/?(html|center|h1|title|hr)\b/i.test(x.text),
        ),
      ]),
    faults: pick(REFUSAL_FAULTS, "odd-faults-are-400", "odd-faults-are-pages"),
  })),
  {
    id: "upstream.quota",
    source: SOURCE,
    rule:
      "When the operator's account has no money left, the client gets 429 or 5xx, never 401 or 403.",
    judge: (e) =>
      both(e, "quota").map((x) =>
        x.head?.status === 429 ? statusIs(x, 429) : inside(x, 500, 599)
      ),
    faults: {
      "quota-is-403": {
        problem: (problem, { request }) =>
          request.body.includes("fx:quota")
            ? { ...problem, status: 403 }
            : problem,
      },
    },
  },
  {
    id: "upstream.detail-body",
    source: 'Recorded error bodies: one vendor answers `{"detail":…}`',
    rule: 'An error body of the form {"detail":text} is understood.',
    judge: (e) =>
      both(e, "detail-422").flatMap((x) => [
        statusIs(x, 400, 422),
        factOf("error.message", textAt(x.json, "error.message"), x).mustBe(
          "the upstream's message: Input should be a valid string",
          textAt(x.json, "error.message").includes("valid string"),
        ),
      ]),
    faults: {
      ...sharedFaults("upstream-words-lost"),
      ...pick(REFUSAL_FAULTS, "status-422-misread"),
    },
  },
  ...CALLERS.map((status) => ({
    id: `upstream.words-of-${status}`,
    source: "Only the upstream can report what is wrong with such a request",
    rule:
      `The upstream's message with status ${status} reaches the client in error.message.`,
    reads: ["upstream-refusals"],
    judge: (e: Evidence) =>
      both(e, String(status)).map((x) => {
        const expected = vendorWords(x, status);
        const actual = flat(textAt(x.json, "error.message"));
        return factOf("error.message", actual, x).mustBe(
          expected,
          actual.includes(expected),
        );
      }),
    faults: pick(REFUSAL_FAULTS, "upstream-words-lost", "upstream-words-cut"),
  })),
  {
    id: "upstream.words-about-keys-stay",
    source:
      "The message is about the operator's key; a client would search for the mistake in its own",
    rule:
      "The upstream's message about a refused key does not reach the client.",
    reads: ["upstream-refusals"],
    judge: (e) =>
      both(e, "401").map((x) =>
        factOf("error.message", x.text.slice(0, 200), x).mustBe(
          "nothing of the upstream's message",
          !flat(x.text).includes(vendorWords(x, 401)),
        )
      ),
    faults: {
      "words-about-keys-told": {
        problem: (problem, { via }) =>
          problem.message.endsWith("status 401")
            ? {
              ...problem,
              message: via === "messages" ? "invalid x-api-key" : via ===
                  "chat_completions"
                ? "Incorrect API key provided: sk-upstr***-key. You can find your API key at https://platform.openai.com/account/api-keys."
                : "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.",
            }
            : problem,
      },
    },
  },
  ...WAITING.map((status) => ({
    id: `upstream.retry-after-${status}`,
    source: "https://www.rfc-editor.org/rfc/rfc9110#name-retry-after",
    rule:
      `The upstream's retry-after seconds with status ${status} reach the client unchanged.`,
    judge: (e: Evidence) =>
      both(e, `wait-${status}`).map((x) => {
        const retryAfter = headerOf(x, "retry-after");
        return compare("retry-after", retryAfter, String(WAIT_SECONDS), x);
      }),
    faults: pick(
      REFUSAL_FAULTS,
      "retry-after-lost",
      "retry-after-one",
      "retry-after-in-ms",
    ),
  })),
  {
    id: "upstream.overflow",
    source:
      "Coding assistants shorten the conversation when they read these words, or this code",
    rule:
      "A prompt that is too long is reported as 400 or 413, with the words or the code that the format's clients look for.",
    judge: (e) =>
      both(e, "overflow").flatMap((x) => {
        const message = textAt(x.json, "error.message");
        const same = x.endpoint === "messages"
          ? x.via === "messages"
          : x.via === "chat_completions";
        const known = x.endpoint === "messages"
          ? /prompt is too long: \d+ tokens > \d+ maximum/.test(message)
          : textAt(x.json, "error.code") === "context_length_exceeded";
        return [
          statusIs(x, 400, 413),
          factOf("error.message", message, x).mustBe(
            "the upstream's count, 201234",
            /201234/.test(message),
          ),
          factOf(
            x.endpoint === "messages" ? "error.message" : "error.code",
            x.text.slice(0, 240),
            x,
          ).mustBe(
            x.endpoint === "messages"
              ? "prompt is too long: 201234 tokens > 200000 maximum"
              : "context_length_exceeded",
            known || !same,
          ),
        ];
      }),
    faults: {
      "overflow-has-no-code": changed(({ status, type, message }) => ({
        status,
        type,
        message,
      })),
      ...sharedFaults("upstream-words-lost"),
      ...pick(REFUSAL_FAULTS, "status-400-misread"),
    },
  },
  {
    id: "upstream.typed-errors",
    source:
      "The official libraries make typed errors of `error.details`, and agents read it: code.claude.com/docs/en/llm-gateway-protocol",
    rule:
      "What an upstream's error has beside its message reaches clients of the upstream's own format whole: `details` (messages), `misalignment` (chat completions).",
    level: "contract",
    judge: (e) =>
      some(
        both(e, "typed").flatMap((x) => {
          const name = OWN_FIELD[`${x.endpoint} from ${x.via}`];
          if (name === undefined) return [];
          const wanted = brief(TYPED_ERRORS[name]);
          const found = brief(at(x.json, `error.${name}`));
          return [
            statusIs(x, 400),
            compare(`error.${name}`, found, wanted, x),
          ];
        }),
        "in the upstream's own format",
      ),
    faults: {
      "typed-errors-lost": changed(({ own: _, ...problem }) => problem),
      "typed-errors-cut": changed((problem) =>
        problem.own === undefined ? problem : {
          ...problem,
          own: Object.fromEntries(
            Object.keys(problem.own).map((name) => [name, {}]),
          ),
        }
      ),
    },
  },
  {
    id: "upstream.no-second-try",
    source:
      "Each try of a large prompt costs; an upstream that refused a request refuses it again",
    rule:
      "A request that the upstream refused as wrong is not sent again; other refusals are retried a few times at most.",
    reads: ["upstream-refusals"],
    judge: (e) =>
      STATUSES.flatMap((status) => {
        const most = FINAL.some((final) => final === status) ? 1 : MOST_CALLS;
        return both(e, String(status)).map((x) =>
          factOf("calls of the upstream", x.upstream.length, x).mustBe(
            `1${most === 1 ? "" : ` to ${most}`}`,
            x.upstream.length >= 1 && x.upstream.length <= most,
          )
        );
      }),
    faults: {
      "called-twice": { attempts: () => 2 },
      "called-six-times": { attempts: () => 6 },
    },
  },
  {
    id: "upstream.next-request-works",
    source: "The failures of one request must not affect others",
    rule: "After refusals and broken connections the next request succeeds.",
    judge: (e) => both(e, "afterwards").map((x) => statusIs(x, 200)),
    faults: { "broken-by-refusals": brokenByRefusals },
  },
  {
    id: "upstream.redirect",
    source:
      "https://fetch.spec.whatwg.org/#http-redirect-fetch drops credentials on another origin; a gateway's key headers are not among them",
    rule:
      "A redirect of the upstream is not followed, in particular not with the key, and is reported as 5xx.",
    reads: ["redirected"],
    judge: (e) =>
      both(e, "redirect").flatMap((x) => [
        inside(x, 500, 599),
        factOf(
          "the address of the redirect",
          e.note(`${x.label} followed`),
          x,
        )
          .mustBe("is never called", e.note(`${x.label} followed`) === false),
      ]),
    faults: {
      "redirects-followed": {
        upstream: (call, { request }) => {
          const [, to] = /redirect\?to=([^#]+)#/.exec(request.body) ?? [];
          return to === undefined
            ? call
            : { ...call, url: decodeURIComponent(to) };
        },
      },
      ...sharedFaults("odd-faults-are-400"),
    },
  },
]);
