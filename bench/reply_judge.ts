/**
 * Whether a reply is whole: every numbered event there once and in order, with all its text, the end told, the usage told. Every
 * reply of a run is judged, so it has to be cheap: bytes are compared, nothing is parsed.
 *
 * @module
 */
import { pieceText, type ReplyPlan, UNSTAMPED } from "./reply_plan.ts";
import { readStamp } from "./stamp.ts";

/** The dialects that callers speak. */
export type CallerDialect = "messages" | "chat_completions";

/** What a reply has to be. */
export interface Expected {
  /** What the mock was asked for. */
  readonly plan: ReplyPlan;
  /** How the caller speaks. */
  readonly dialect: CallerDialect;
  /** Whether it asked for a stream. */
  readonly stream: boolean;
}

/** What is wrong with a reply. */
export interface Fault {
  /** What was expected, and is not so. */
  readonly text: string;
  /** True: nothing of the text is missing, but what comes with it: the end, or the usage. */
  readonly textIsWhole: boolean;
}

/** Looks at a reply's body. Gives what is wrong with it; undefined where nothing is. */
export type ReplyJudge = (
  body: Uint8Array,
  /** Told of every stamped event: its stamp, and where in the body it ends. */
  onStamp?: (stamp: number, endsAt: number) => void,
) => Fault | undefined;

const lost = (text: string): Fault => ({ text, textIsWhole: false });
const untold = (text: string): Fault => ({ text, textIsWhole: true });

const HASH = 35;

const encoder = new TextEncoder();

/** Makes the judge of the replies to one request. */
export function replyJudge({ plan, dialect, stream }: Expected): ReplyJudge {
  const texts = Array.from(
    { length: plan.events },
    (_, index) => encoder.encode(pieceText(plan, index)),
  );
  const stampsAt = texts.map((text) =>
    plan.perSecond > 0 ? text.indexOf(UNSTAMPED.charCodeAt(0)) + 1 : undefined
  );
  const usage = encoder.encode(
    dialect === "messages"
      ? `"output_tokens":${plan.events}`
      : `"completion_tokens":${plan.events}`,
  );
  const end = stream
    ? encoder.encode(
      dialect === "messages" ? '"type":"message_stop"' : "data: [DONE]",
    )
    : encoder.encode(
      dialect === "messages"
        ? '"stop_reason":"end_turn"'
        : '"finish_reason":"stop"',
    );

  return (body, onStamp) => {
    let seen = 0;
    for (
      let at = body.indexOf(HASH);
      at >= 0;
      at = body.indexOf(HASH, at + 1)
    ) {
      const text = texts[seen];
      if (text === undefined) return lost(`more than ${plan.events} events`);
      const stampAt = stampsAt[seen];
      if (!isAt(body, at, text, stampAt)) {
        return lost(`event ${seen} is not as it was sent, or not next`);
      }
      if (stampAt !== undefined) {
        const stamp = readStamp(body, at + stampAt);
        if (stamp === undefined) return lost(`event ${seen} has no stamp`);
        onStamp?.(stamp, at + text.length);
      }
      seen++;
    }
    if (seen < plan.events) {
      return lost(`${plan.events - seen} of ${plan.events} events are lost`);
    }
    // A stream's end is its last frame; behind it may only be blank lines.
    const from = stream ? Math.max(0, body.length - end.length - 64) : 0;
    if (find(body, end, from) < 0) return untold("the end is not told");
    return hasNumber(body, usage) ? undefined : untold("the usage is not told");
  };
}

function isAt(
  body: Uint8Array,
  at: number,
  text: Uint8Array,
  stampAt: number | undefined,
): boolean {
  if (at + text.length > body.length) return false;
  for (let offset = 0; offset < text.length; offset++) {
    if (offset === stampAt) offset += UNSTAMPED.length - 1;
    if (body[at + offset] !== text[offset]) return false;
  }
  return true;
}

function hasNumber(body: Uint8Array, wanted: Uint8Array): boolean {
  for (
    let at = find(body, wanted, 0);
    at >= 0;
    at = find(body, wanted, at + 1)
  ) {
    const next = body[at + wanted.length] ?? 0;
    if (next < 48 || next > 57) return true;
  }
  return false;
}

function find(body: Uint8Array, wanted: Uint8Array, from: number): number {
  const first = wanted[0] ?? 0;
  outer: for (
    let at = body.indexOf(first, from);
    at >= 0;
    at = body.indexOf(first, at + 1)
  ) {
    for (let offset = 1; offset < wanted.length; offset++) {
      if (body[at + offset] !== wanted[offset]) continue outer;
    }
    return at;
  }
  return -1;
}
