/**
 * Checks that a reply is complete: every numbered event once and in order with its whole text, the
 * end, and the usage. Every reply of a run is checked, so it has to be cheap: bytes are compared,
 * nothing is parsed.
 */
import { pieceText, type ReplyPlan, UNSTAMPED } from "./reply_plan.ts";
import { readStamp } from "./stamp.ts";

/** The dialects of requests to a target. */
export type CallerDialect =
  | "messages"
  | "chat_completions"
  | "generate_content"
  | "responses";

/** How a dialect reports the usage and the end. */
interface Markers {
  /** The field with the output tokens. */
  readonly usage: string;
  /** Part of the last frame of a stream. */
  readonly streamEnd: string;
  /** Part of a whole reply. */
  readonly wholeEnd: string;
  /** How often the frames at the end of a stream repeat the whole text. */
  readonly repeats: number;
}

const MARKERS: Readonly<Record<CallerDialect, Markers>> = {
  messages: {
    usage: "output_tokens",
    streamEnd: '"type":"message_stop"',
    wholeEnd: '"stop_reason":"end_turn"',
    repeats: 0,
  },
  chat_completions: {
    usage: "completion_tokens",
    streamEnd: "data: [DONE]",
    wholeEnd: '"finish_reason":"stop"',
    repeats: 0,
  },
  generate_content: {
    usage: "candidatesTokenCount",
    streamEnd: '"responseId":',
    wholeEnd: '"finishReason":"STOP"',
    repeats: 0,
  },
  responses: {
    usage: "output_tokens",
    streamEnd: '"sequence_number":',
    wholeEnd: '"status":"completed"',
    repeats: 4,
  },
};

/** The expected reply. */
export interface Expected {
  /** The plan that the request's tag contains. */
  readonly plan: ReplyPlan;
  /** Dialect of the request. */
  readonly dialect: CallerDialect;
  /** Whether the request asks for a stream. */
  readonly stream: boolean;
}

/** A problem of a reply. */
interface ReplyFault {
  /** Description of the problem. */
  readonly text: string;
  /** True when the text is complete and only the end or the usage is missing. */
  readonly textIsWhole: boolean;
}

/** Checks the body of a reply. Returns the first problem; undefined when it is correct. */
type ReplyJudge = (
  body: Uint8Array,
  /** Called for every stamped event with its stamp and the offset of its end in the body. */
  onStamp?: (stamp: number, endsAt: number) => void,
) => ReplyFault | undefined;

const textFault = (text: string): ReplyFault => ({ text, textIsWhole: false });
const endingFault = (text: string): ReplyFault => ({ text, textIsWhole: true });

const HASH = 35;

const encoder = new TextEncoder();

/** Makes the check for the replies to one request. */
export function replyJudge({ plan, dialect, stream }: Expected): ReplyJudge {
  const texts = Array.from(
    { length: plan.events },
    (_, index) => encoder.encode(pieceText(plan, index)),
  );
  const stampsAt = texts.map((text) =>
    plan.perSecond > 0 ? text.indexOf(UNSTAMPED.charCodeAt(0)) + 1 : undefined
  );
  const markers = MARKERS[dialect];
  const usage = encoder.encode(`"${markers.usage}":${plan.events}`);
  const end = encoder.encode(stream ? markers.streamEnd : markers.wholeEnd);
  const total = plan.events * (stream ? 1 + markers.repeats : 1);

  return (body, onStamp) => {
    let seen = 0;
    for (
      let at = body.indexOf(HASH);
      at >= 0;
      at = body.indexOf(HASH, at + 1)
    ) {
      const text = texts[seen % plan.events];
      if (text === undefined || seen === total) {
        return textFault(`more than ${plan.events} events`);
      }
      const stampAt = stampsAt[seen % plan.events];
      if (!isAt(body, at, text, stampAt)) {
        return textFault(`event ${seen} is changed or out of order`);
      }
      // Only the events themselves are stamped, not the repeated text.
      if (stampAt !== undefined && seen < plan.events) {
        const stamp = readStamp(body, at + stampAt);
        if (stamp === undefined) return textFault(`event ${seen} has no stamp`);
        onStamp?.(stamp, at + text.length);
      }
      seen++;
    }
    if (seen < total) {
      return textFault(`${total - seen} of ${total} texts are lost`);
    }
    // The end of a stream is its last frame; only blank lines may follow.
    const from = stream ? Math.max(0, body.length - end.length - 64) : 0;
    if (find(body, end, from) < 0) return endingFault("the end is missing");
    return hasNumber(body, usage)
      ? undefined
      : endingFault("the usage is missing");
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
