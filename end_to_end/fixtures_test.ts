/** Every written fixture through the whole gateway: both callers' formats, each family, streamed and whole, say the same. */
import assert from "node:assert/strict";
import type {
  Content,
  WrittenFixture,
} from "../conformance/fixtures/fixture.ts";
import { WRITTEN } from "../conformance/fixtures/mod.ts";
import { chatCompletions } from "../translate/chat_completions/mod.ts";
import { type Dialect, PLAIN_CONTEXT } from "../translate/dialect.ts";
import { messages } from "../translate/messages/mod.ts";
import { foldReply, type Reply, type ReplyEvent } from "../translate/reply.ts";
import type { DialectName } from "../translate/request.ts";
import { frameReader } from "../translate/sse.ts";
import { startTestGateway, type TestGateway } from "./test_gateway.ts";

interface Route {
  readonly caller: Dialect;
  readonly path: string;
  readonly model: string;
  readonly upstream: DialectName;
}

const FAMILY_DIALECTS: readonly (readonly [string, DialectName])[] = [
  ["vendora-opus-4-8", "messages"],
  ["vendorb-5.5", "chat_completions"],
  ["vendorc-3-pro", "generate_content"],
];

const ROUTES: readonly Route[] = FAMILY_DIALECTS.flatMap((
  [model, upstream],
) => [
  { caller: messages, path: "/v1/messages", model, upstream },
  { caller: chatCompletions, path: "/v1/chat/completions", model, upstream },
]);

/** Stop causes that a format has no word of its own for. */
const UNSAYABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  messages: { other: "end" },
  chat_completions: {
    other: "end",
    pause: "end",
    context_window: "max_tokens",
    stop_sequence: "end",
  },
};

/** What a reply says, in words that are nobody's. */
interface Told {
  readonly text: string;
  readonly thinking: string;
  readonly tools: readonly { readonly name: string; readonly args: unknown }[];
  readonly stop: string | undefined;
  readonly input: number | undefined;
  readonly cacheRead: number;
  readonly output: number | undefined;
}

async function ask(
  gateway: TestGateway,
  route: Route,
  text: string,
  stream: boolean,
): Promise<Reply> {
  const response = await gateway.post(route.path, {
    model: route.model,
    max_tokens: 500,
    stream,
    ...(route.caller === chatCompletions && stream
      ? { stream_options: { include_usage: true } }
      : {}),
    messages: [{ role: "user", content: text }],
  });
  assert.equal(response.status, 200);
  if (!stream) {
    return foldReply(
      route.caller.decodeReply(await response.json(), PLAIN_CONTEXT),
    );
  }
  assert.equal(
    response.headers.get("content-type")?.split(";")[0],
    "text/event-stream",
  );
  const reader = frameReader();
  const decoder = route.caller.streamDecoder(PLAIN_CONTEXT);
  const events: ReplyEvent[] = [];
  for (
    const frame of [...reader.push(await response.bytes()), ...reader.end()]
  ) events.push(...decoder.push(frame));
  events.push(...decoder.end());
  assert.equal(events.at(-1)?.type, "end");
  return foldReply(events);
}

function told(reply: Reply): Told {
  const joined = (...kinds: string[]): string =>
    reply.blocks.filter((block) => kinds.includes(block.kind)).map((block) =>
      block.text
    ).join("");
  return {
    text: joined("text", "refusal"),
    thinking: joined("reasoning"),
    tools: reply.blocks.flatMap((block) =>
      block.kind === "tool"
        ? [{ name: block.name, args: JSON.parse(block.text || "{}") }]
        : []
    ),
    stop: reply.stop?.reason,
    input: reply.usage.input,
    cacheRead: reply.usage.cacheRead ?? 0,
    output: reply.usage.output,
  };
}

function claimed(fixture: WrittenFixture, route: Route): Told {
  const says: Content = {
    ...fixture.says,
    ...fixture.saysIn?.[route.upstream],
  };
  const refused = (says.refusal ?? "") !== "";
  const stop = refused ? "refusal" : says.stop;
  const usage = says.usage ??
    { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  // Generate content does not tell cache writes apart.
  const input = usage.input +
    (route.upstream === "generate_content" ? usage.cacheWrite : 0);
  return {
    text: says.text + (says.refusal ?? ""),
    thinking: says.thinking ?? "",
    tools: says.tools ?? [],
    stop: UNSAYABLE[route.caller.name]?.[stop] ?? stop,
    input,
    cacheRead: usage.cacheRead,
    output: usage.output,
  };
}

Deno.test("every fixture says through the gateway what it says upstream", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (const fixture of WRITTEN.values()) {
      for (const route of ROUTES) {
        for (const stream of [false, true]) {
          const how = stream ? "streamed" : "whole";
          await t.step(
            `${fixture.name}: ${route.caller.name} from ${route.upstream}, ${how}`,
            async () => {
              const reply = await ask(
                gateway,
                route,
                `[[fx:${fixture.name}]]`,
                stream,
              );
              const wanted = claimed(fixture, route);
              // Bytes that pass through keep the upstream's own word for the stop, sensible or not.
              const passed = route.caller.name === route.upstream;
              assert.deepEqual(
                told(reply),
                passed ? { ...wanted, stop: reply.stop?.reason } : wanted,
              );
            },
          );
        }
      }
    }
  } finally {
    await gateway.close();
  }
});

Deno.test("no way of sending the same stream changes what it says", async (t) => {
  const gateway = await startTestGateway();
  try {
    for (
      const how of [
        "split=50",
        "crlf",
        "cr",
        "bom",
        "nospace",
        "comments",
        "multiline",
      ]
    ) {
      for (const name of ["tool-parallel", "text-unicode", "thinking-tool"]) {
        for (const route of ROUTES) {
          await t.step(
            `${name}?${how}: ${route.caller.name} from ${route.upstream}`,
            async () => {
              const plain = await ask(gateway, route, `[[fx:${name}]]`, true);
              const changed = await ask(
                gateway,
                route,
                `[[fx:${name}?${how}]]`,
                true,
              );
              assert.deepEqual(told(changed), told(plain));
            },
          );
        }
      }
    }
  } finally {
    await gateway.close();
  }
});
