/** What the checks of requests upstream share: the caller's request, and what became of it. */
import type { Exchange, UpstreamCall } from "../evidence/exchange.ts";
import { sentIn, type SentRequest } from "../evidence/sent_upstream.ts";
import { parseJson } from "../replay/json.ts";
import { STREAMED } from "../scenarios/sent_upstream.ts";
import type { Check } from "../suite/check.ts";
import type { Evidence } from "../suite/evidence.ts";
import { fact, type Finding, NotTestable } from "../suite/finding.ts";

/** A request of the caller, what it asks for, and what the upstream was asked for. */
export interface Passed {
  /** The exchange. */
  readonly x: Exchange;
  /** What the caller asked for. */
  readonly asked: SentRequest;
  /** What the upstream was asked for. */
  readonly sent: SentRequest;
  /** The call of the upstream. */
  readonly call: UpstreamCall;
}

/** The exchanges of a form, whole and streamed, that reached the upstream. */
export function passed(
  e: Evidence,
  form: string,
  endpoint = "*",
): readonly Passed[] {
  const whole = e.replies(`${endpoint}/*/${form}-whole`);
  return STREAMED.some((name) => name === form)
    ? [...whole, ...e.streams(`${endpoint}/*/${form}-stream`)].map(passedBy)
    : whole.map(passedBy);
}

/** The one exchange as it was passed on. */
export function passedBy(x: Exchange): Passed {
  const [call] = x.upstream;
  if (call === undefined) {
    throw new NotTestable(`"${x.label}" did not reach the replay upstream`, x);
  }
  const asked = sentIn({
    ...call,
    dialect: x.endpoint === "chat" ? "chat_completions" : "messages",
    path: x.request.path,
    json: parseJson(x.request.body),
  });
  return { x, asked, sent: sentIn(call), call };
}

/** Two values are the same JSON. */
export function equal(
  { x }: Passed,
  what: string,
  asked: unknown,
  sent: unknown,
): Finding {
  const text = (value: unknown) => JSON.stringify(value) ?? "nothing";
  return fact(text(asked) === text(sent), what, text(asked), text(sent), x);
}

/** Which scenario a check reads, unless it is the conversation. */
const GROUPS: Readonly<Record<string, string>> = {
  "max_tokens": "members",
  "limit-where-needed": "members",
  "temperature": "members",
  "top_p": "members",
  "stop_sequences": "members",
  "metadata": "members",
  "stream": "members",
  "nothing-added": "members",
  "own-members": "members",
  "several-choices": "members",
  "unknown-member": "members",
  "model": "members",
  "one-call": "members",
  "call-is-json": "members",
  "callers-key": "members",
  "tools": "things",
  "image": "things",
  "image-url": "things",
};

/** A check of what arrives upstream. */
export function sentCheck(
  name: string,
  rule: Check["rule"],
  judge: Check["judge"],
  mutants: readonly string[],
  level: Check["level"] = "convention",
): Check {
  const reads = [`sent-${GROUPS[name] ?? "talk"}`];
  return {
    id: `upstream.${name}`,
    rule,
    level,
    mode: "replay",
    reads,
    judge,
    mutants,
  };
}

/** The reason of most of these rules. */
export const SAME = {
  source: "A gateway forwards requests (section What the service does)",
};
/** The section with the members of a message request. */
export const TABLE = "POST /v1/messages";

/** Forms with a member beside the conversation. */
export const MEMBERS = ["limit", "stops", "metadata"] as const;
