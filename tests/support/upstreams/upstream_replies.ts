/**
 * Replies of every upstream format, for tests: the fixtures in each format and, where the folder
 * is there, the recordings.
 */
import { completeContent } from "../../../replay/vendors/content_of.ts";
import type { WrittenFixture } from "../../../replay/fixtures/fixture.ts";
import { WRITTEN } from "../../../replay/fixtures/mod.ts";
import { replyIn } from "../../../replay/fixtures/reply_in.ts";
import { compact } from "../../../translate/bytes/compact.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import { recordings } from "../../../translate/testing/recordings.ts";

export interface UpstreamReply {
  readonly name: string;
  readonly upstream: DialectName;
  /** Absent where only the stream was recorded. */
  readonly whole?: string;
  /** Absent where only the whole reply was recorded. */
  readonly stream?: string;
}

const DIALECTS = [
  "messages",
  "chat_completions",
  "generate_content",
  "responses",
] as const;
const RECORDED: Readonly<Record<string, DialectName>> = {
  messages: "messages",
  chat: "chat_completions",
  gemini: "generate_content",
  responses: "responses",
};

export function fixtureReplies(): readonly UpstreamReply[] {
  return [...WRITTEN.values()].flatMap((fixture) => [
    ...DIALECTS.map((upstream): UpstreamReply => {
      const { whole, stream } = replyIn(fixture, upstream);
      return {
        name: fixture.name,
        upstream,
        whole: filled(whole),
        stream: filled(stream.join("")),
      };
    }),
    converseReply(fixture),
  ]);
}

/** The recorded replies of status 200. */
export function recordedReplies(): readonly UpstreamReply[] {
  return (recordings() ?? []).flatMap(
    ({ id, vendor, response: { status, body, sse }, meta }) => {
      const upstream = RECORDED[vendor];
      if (
        upstream === undefined || status !== 200 || meta.op !== "generate"
      ) return [];
      return [{
        name: id,
        upstream,
        ...(body === undefined ? {} : { whole: JSON.stringify(body) }),
        ...compact({ stream: sse }),
      }];
    },
  );
}

function filled(text: string): string {
  return text.replaceAll("{{model}}", "m").replaceAll(
    "{{usage:null}}",
    ',"usage":null',
  ).replaceAll("{{if-usage}}", "");
}

const CONVERSE_STOPS: Readonly<Record<string, string>> = {
  end: "end_turn",
  refusal: "guardrail_intervened",
  context_window: "model_context_window_exceeded",
};

/** A fixture's content as Converse, which no fixture is written in. */
function converseReply({ name, content }: WrittenFixture): UpstreamReply {
  const { text, thinking, refusal, tools, stop, usage } = completeContent(
    content,
  );
  const calls = tools.map(({ name, args }, at) => ({
    toolUse: { toolUseId: `tooluse_${at}`, name, input: args },
  }));
  const parts = [
    ...(thinking === "" ? [] : [{
      reasoningContent: { reasoningText: { text: thinking, signature: "sig" } },
    }]),
    ...(text + refusal === "" ? [] : [{ text: text + refusal }]),
    ...calls,
  ];
  const stopReason = CONVERSE_STOPS[stop] ?? stop;
  const tokens = {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    cacheReadInputTokens: usage.cacheRead,
    cacheWriteInputTokens: usage.cacheWrite,
  };
  const events: (readonly [string, object])[] = [
    ["messageStart", { role: "assistant" }],
    ...parts.flatMap((part, contentBlockIndex) =>
      deltasOf(part).map(([event, data]) =>
        [event, { contentBlockIndex, ...data }] as const
      )
    ),
    ["messageStop", { stopReason }],
    ["metadata", { usage: tokens }],
  ];
  return {
    name,
    upstream: "converse",
    whole: JSON.stringify({
      output: { message: { role: "assistant", content: parts } },
      stopReason,
      usage: tokens,
    }),
    stream: events.map(([event, data]) =>
      `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    ).join(""),
  };
}

interface ConversePart {
  readonly text?: string;
  readonly reasoningContent?: {
    readonly reasoningText: {
      readonly text: string;
      readonly signature: string;
    };
  };
  readonly toolUse?: {
    readonly toolUseId: string;
    readonly name: string;
    readonly input: unknown;
  };
}

function deltasOf(
  { text, reasoningContent, toolUse }: ConversePart,
): readonly (readonly [string, object])[] {
  const delta = (delta: object) => ["contentBlockDelta", { delta }] as const;
  const stop = ["contentBlockStop", {}] as const;
  if (toolUse !== undefined) {
    const { input, ...start } = toolUse;
    return [
      ["contentBlockStart", { start: { toolUse: start } }],
      delta({ toolUse: { input: JSON.stringify(input) } }),
      stop,
    ];
  }
  if (reasoningContent !== undefined) {
    const { text, signature } = reasoningContent.reasoningText;
    return [
      delta({ reasoningContent: { text } }),
      delta({ reasoningContent: { signature } }),
      stop,
    ];
  }
  return [delta({ text }), stop];
}
