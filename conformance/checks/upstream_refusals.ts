/** Checks of the area `upstream`: what each refusal of the upstream becomes on both endpoints, whole and streamed. */
import { type Exchange, headerOf } from "../evidence/exchange.ts";
import { textAt } from "../evidence/json_path.ts";
import { ERROR_WORDS } from "../replay/error_words.ts";
import {
  ODD_FAULTS,
  STATUSES,
  WAIT_SECONDS,
  WAITING,
} from "../scenarios/upstream_refusals.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, statusIs } from "../suite/finding.ts";

/** The statuses that tell a caller the truth about a status of the upstream; undefined is any of 500 to 599. */
const TOLD: Readonly<Record<number, readonly number[] | undefined>> = {
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

/** Why, for the rules of single statuses. */
const REASONS: Readonly<Record<number, string>> = {
  401: "the operator's key is refused, and the caller's is not at fault",
  402: "the operator's account is empty, and the caller's is not at fault",
  403: "the operator's key may not, and the caller's is not at fault",
};

/** Refusals that are about the request: the caller can mend it only when told what the upstream said. */
const CALLERS = [400, 413, 422] as const;

/** Refusals that trying again does not cure. */
const FINAL = [400, 401, 403, 404, 413, 422] as const;

/** A gateway may try a busy upstream again, and not without end. */
const MOST_CALLS = 5;

const SOURCE =
  "Client libraries decide by the status: 401 and 403 blame the caller's key, 429 and 5xx are tried again, other 4xx are shown";

function both(e: Evidence, name: string): readonly Exchange[] {
  return [
    ...e.matching(`*/*/${name}-whole`),
    ...e.matching(
      `*/*/${name}-stream`,
    ),
  ];
}

function inside(x: Exchange, least: number, most: number) {
  const status = x.head?.status ?? 0;
  return fact(
    status >= least && status <= most,
    "status",
    `${least} to ${most}`,
    x.head?.status ?? x.ending,
    x,
  );
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** What the vendor said to a request of that dialect, up to the name of its model. */
function vendorWords(x: Exchange, status: number): string {
  const via = x.via ?? "messages";
  return flat(ERROR_WORDS[status]?.[via].message ?? "");
}

/** The checks. */
export const REFUSAL_CHECKS: readonly Check[] = [
  ...STATUSES.map((status): Check => {
    const told = TOLD[status];
    const words = told?.join(", ") ?? "5xx";
    return {
      id: `upstream.status-${status}`,
      rule: {
        source: SOURCE,
        text: `A status ${status} of the upstream is told as ${words}${
          REASONS[status] === undefined ? "" : `: ${REASONS[status]}`
        }.`,
      },
      level: "convention",
      mode: "replay",
      reads: ["upstream-refusals"],
      judge: (e) =>
        both(e, String(status)).map((x) =>
          told === undefined ? inside(x, 500, 599) : statusIs(x, ...told)
        ),
      mutants: [`status-${status}-misread`, "refused-streams-are-200"],
    };
  }),
  ...Object.keys(ODD_FAULTS).map((name): Check => ({
    id: `upstream.odd-${name}`,
    rule: {
      source: SOURCE,
      text:
        `A fault of the upstream that no vendor documents (${name}) is told as 5xx, with a JSON error and without the upstream's page.`,
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
    judge: (e) =>
      both(e, name).flatMap((x) => [
        inside(x, 500, 599),
        fact(
          textAt(x.json, "error.message").trim() !== "" &&
            !/<\/?(html|center|h1|title|hr)\b/i.test(x.text),
          "error.message",
          "a text that is no page",
          x.text.slice(0, 160),
          x,
        ),
      ]),
    mutants: ["odd-faults-are-400", "odd-faults-are-pages"],
  })),
  {
    id: "upstream.quota",
    rule: {
      source: SOURCE,
      text:
        "An account of the operator without money is 429 or 5xx to the caller, never 401 or 403.",
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
    judge: (e) =>
      both(e, "quota").map((x) =>
        x.head?.status === 429 ? statusIs(x, 429) : inside(x, 500, 599)
      ),
    mutants: ["quota-is-403"],
  },
  {
    id: "upstream.detail-body",
    rule: {
      source: 'FACTS.md, error bodies: one vendor answers `{"detail":…}`',
      text: 'An error body of the form {"detail":text} is understood.',
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
    judge: (e) =>
      both(e, "detail-422").flatMap((x) => [
        statusIs(x, 400, 422),
        fact(
          textAt(x.json, "error.message").includes("valid string"),
          "error.message",
          "what the upstream said: Input should be a valid string",
          textAt(x.json, "error.message"),
          x,
        ),
      ]),
    mutants: ["upstream-words-lost", "status-422-misread"],
  },
  ...CALLERS.map((status): Check => ({
    id: `upstream.words-of-${status}`,
    rule: {
      source: "What is wrong with a request only the upstream can say",
      text:
        `The upstream's message with status ${status} reaches the caller in error.message.`,
    },
    level: "convention",
    mode: "replay",
    reads: ["upstream-refusals"],
    judge: (e) =>
      both(e, String(status)).map((x) => {
        const said = vendorWords(x, status);
        const told = flat(textAt(x.json, "error.message"));
        return fact(told.includes(said), "error.message", said, told, x);
      }),
    mutants: ["upstream-words-lost", "upstream-words-cut"],
  })),
  {
    id: "upstream.words-about-keys-stay",
    rule: {
      source:
        "Those words are about the operator's key; a caller would look for the fault in its own",
      text:
        "What the upstream says about a refused key is not told to the caller.",
    },
    level: "convention",
    mode: "replay",
    reads: ["upstream-refusals"],
    judge: (e) =>
      both(e, "401").map((x) =>
        fact(
          !flat(x.text).includes(vendorWords(x, 401)),
          "error.message",
          "nothing of the upstream's words",
          x.text.slice(0, 200),
          x,
        )
      ),
    mutants: ["words-about-keys-told"],
  },
  ...WAITING.map((status): Check => ({
    id: `upstream.retry-after-${status}`,
    rule: {
      source: "https://www.rfc-editor.org/rfc/rfc9110#name-retry-after",
      text:
        `The seconds to wait that the upstream names with status ${status} reach the caller unchanged.`,
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
    judge: (e) =>
      both(e, `wait-${status}`).map((x) => {
        const told = headerOf(x, "retry-after");
        return fact(
          told === String(WAIT_SECONDS),
          "retry-after",
          String(WAIT_SECONDS),
          told ?? "none",
          x,
        );
      }),
    mutants: ["retry-after-lost", "retry-after-one", "retry-after-in-ms"],
  })),
  {
    id: "upstream.overflow",
    rule: {
      source:
        "Coding assistants shorten the conversation when they read these words, or this code",
      text:
        "A prompt that is too long is told as 400 or 413, in the words or with the code that the format's clients look for.",
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
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
          fact(
            /201234/.test(message),
            "error.message",
            "the upstream's count, 201234",
            message,
            x,
          ),
          fact(
            known || !same,
            x.endpoint === "messages" ? "error.message" : "error.code",
            x.endpoint === "messages"
              ? "prompt is too long: 201234 tokens > 200000 maximum"
              : "context_length_exceeded",
            x.text.slice(0, 240),
            x,
          ),
        ];
      }),
    mutants: [
      "upstream-words-lost",
      "overflow-has-no-code",
      "status-400-misread",
    ],
  },
  {
    id: "upstream.no-second-try",
    rule: {
      source:
        "Each try of a large prompt costs; an upstream that refused a request refuses it again",
      text:
        "A request that the upstream refused as wrong is not sent again; other refusals are tried again a few times at most.",
    },
    level: "convention",
    mode: "replay",
    reads: ["upstream-refusals"],
    judge: (e) =>
      STATUSES.flatMap((status) => {
        const most = FINAL.some((final) => final === status) ? 1 : MOST_CALLS;
        return both(e, String(status)).map((x) =>
          fact(
            x.upstream.length >= 1 && x.upstream.length <= most,
            "calls of the upstream",
            `1${most === 1 ? "" : ` to ${most}`}`,
            x.upstream.length,
            x,
          )
        );
      }),
    mutants: ["called-twice", "called-six-times"],
  },
  {
    id: "upstream.next-request-works",
    rule: {
      source: "One caller's bad luck must not become everybody's",
      text: "After refusals and broken connections the next request succeeds.",
    },
    level: "convention",
    mode: "replay",
    reads: ["odd-refusals"],
    judge: (e) => both(e, "afterwards").map((x) => statusIs(x, 200)),
    mutants: ["broken-by-refusals"],
  },
  {
    id: "upstream.redirect",
    rule: {
      source:
        "https://fetch.spec.whatwg.org/#http-redirect-fetch drops credentials on another origin; a gateway's key headers are not among them",
      text:
        "A redirect of the upstream is not followed, with the key least of all, and is told as 5xx.",
    },
    level: "convention",
    mode: "replay",
    reads: ["redirected"],
    judge: (e) =>
      both(e, "redirect").flatMap((x) => [
        inside(x, 500, 599),
        fact(
          e.note(`${x.label} followed`) === false,
          "the place that the upstream named",
          "is never called",
          e.note(`${x.label} followed`),
          x,
        ),
      ]),
    mutants: ["redirects-followed", "odd-faults-are-400"],
  },
];
