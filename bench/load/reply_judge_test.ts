import assert from "node:assert/strict";
import { fastStream, pacedStream, wholeReply } from "../mock/mock_replies.ts";
import type { UpstreamDialect } from "../mock/mock_bodies.ts";
import { HttpReader } from "./http_bytes.ts";
import { type CallerDialect, replyJudge } from "./reply_judge.ts";
import { DEFAULT_PLAN } from "./reply_plan.ts";
import { stampClock, writeStamp } from "./stamp.ts";

const DIALECTS: readonly (CallerDialect & UpstreamDialect)[] = [
  "messages",
  "chat_completions",
  "generate_content",
  "responses",
];

/** What ends a stream. */
const STREAM_ENDS: Readonly<Record<CallerDialect, RegExp>> = {
  messages: /"type":"message_stop"/,
  chat_completions: /data: \[DONE\]/,
  generate_content: /"responseId":"\w+"\}\s*$/,
  responses: /"sequence_number":\d+\}\s*$/,
};
/** The count of generated tokens. */
const USAGE: Readonly<Record<CallerDialect, string>> = {
  messages: "output_tokens",
  chat_completions: "completion_tokens",
  generate_content: "candidatesTokenCount",
  responses: "output_tokens",
};
/** What ends a whole reply. */
const WHOLE_END =
  /"(?:stop_reason|finish_reason|finishReason)":"\w+"|"status":"completed"/g;
const plan = { ...DEFAULT_PLAN, events: 12 };
const decoder = new TextDecoder("latin1");
const encoder = new TextEncoder();

/** Reads the body of a reply whose bytes arrive in pieces of this size. */
async function bodyOf(
  writes: readonly Uint8Array[],
  pieceBytes = 100_000,
): Promise<string> {
  const bytes = writes.flatMap((one) => [...one]);
  let at = 0;
  const reader = new HttpReader({
    read(buffer) {
      const piece = bytes.slice(
        at,
        at + Math.min(pieceBytes, buffer.length),
      );
      if (piece.length === 0) return Promise.resolve(null);
      buffer.set(piece);
      at += piece.length;
      return Promise.resolve(piece.length);
    },
  });
  const head = await reader.head();
  assert.ok(head !== undefined);
  let body = "";
  await reader.body(head, (piece) => body += decoder.decode(piece));
  return body;
}

function judged(
  dialect: CallerDialect,
  stream: boolean,
  body: string,
): string | undefined {
  return replyJudge({ plan, dialect, stream })(encoder.encode(body))?.text;
}

for (const dialect of DIALECTS) {
  for (const stream of [false, true]) {
    const { writes } = (stream ? fastStream : wholeReply)(dialect, plan);
    const what = `a ${stream ? "stream" : "whole reply"} in ${dialect}`;

    Deno.test(`${what} is correct as the mock sends it, in pieces of any size`, async () => {
      const whole = await bodyOf(writes);
      assert.equal(judged(dialect, stream, whole), undefined);
      for (const bytes of [1, 7, 100]) {
        assert.equal(await bodyOf(writes, bytes), whole);
      }
    });

    Deno.test(`${what} is wrong when an event is lost, repeated, changed or moved`, async () => {
      const body = await bodyOf(writes);
      const event = "#5 lorem ipsum";
      assert.ok(body.includes(event));
      for (
        const [name, broken] of Object.entries({
          lost: body.replace(event, ""),
          "lost at the end": body.replace("#11 lorem ipsu", ""),
          doubled: body.replace(event, event + event),
          changed: body.replace(event, "#5 lorem ipsuM"),
          shortened: body.replace(event, "#5 lorem"),
          moved: body.replace(event, "#6 lorem ipsum"),
          more: `#12 lorem ipsu${body}`,
        })
      ) assert.notEqual(judged(dialect, stream, broken), undefined, name);
    });

    Deno.test(`${what} is wrong when its end or its usage is missing`, async () => {
      const body = await bodyOf(writes);
      const end = stream ? STREAM_ENDS[dialect] : WHOLE_END;
      assert.equal(
        judged(dialect, stream, body.replace(end, "")),
        "the end is missing",
      );
      const usage = USAGE[dialect];
      assert.equal(
        judged(
          dialect,
          stream,
          body.replaceAll(`"${usage}":12`, `"${usage}":121`),
        ),
        "the usage is missing",
      );
    });
  }

  Deno.test(`a stream in ${dialect} that is cut at any byte is wrong`, async () => {
    const body = await bodyOf(fastStream(dialect, plan).writes);
    for (let length = 0; length < body.length - 30; length++) {
      assert.notEqual(judged(dialect, true, body.slice(0, length)), undefined);
    }
  });
}

Deno.test("replyJudge() reports the stamp and the end of each event", () => {
  const paced = { ...plan, events: 3, perSecond: 10 };
  const { frames } = pacedStream("messages", paced);
  const sent = [1, 36 ** 3, stampClock()];
  let body = "";
  for (const [index, { bytes, stampAt }] of frames.entries()) {
    const copy = bytes.slice();
    writeStamp(copy, stampAt, sent[index] ?? 0);
    body += decoder.decode(copy);
  }
  body += '"output_tokens":3 "type":"message_stop"';
  const stamps: number[] = [];
  const ends: string[] = [];
  const fault = replyJudge({ plan: paced, dialect: "messages", stream: true })(
    encoder.encode(body),
    (stamp, endsAt) => {
      stamps.push(stamp);
      ends.push(body.slice(endsAt, endsAt + 2));
    },
  );
  assert.equal(fault, undefined);
  assert.deepEqual(stamps, sent);
  assert.deepEqual(ends, ['"}', '"}', '"}']);
});

Deno.test("replyJudge() rejects an event without a stamp", () => {
  const paced = { ...plan, events: 1, perSecond: 10 };
  const [frame] = pacedStream("messages", paced).frames;
  assert.ok(frame !== undefined);
  const fault = replyJudge({ plan: paced, dialect: "messages", stream: true })(
    frame.bytes,
  );
  assert.equal(fault?.text, "event 0 has no stamp");
});
