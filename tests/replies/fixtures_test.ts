/**
 * Every replay fixture through the whole gateway: clients of both formats receive the same content
 * from each family, streamed and whole.
 */
import assert from "node:assert/strict";
import type { Content, WrittenFixture } from "../../replay/fixtures/fixture.ts";
import { WRITTEN } from "../../replay/fixtures/mod.ts";
import { chatCompletions } from "../../translate/formats/chat_completions/mod.ts";
import { type Dialect, PLAIN_CONTEXT } from "../../translate/dialect.ts";
import { messages } from "../../translate/formats/messages/mod.ts";
import {
  foldReply,
  type Reply,
  type ReplyEvent,
} from "../../translate/model/reply.ts";
import type { DialectName } from "../../translate/model/request.ts";
import { sseParser } from "../../translate/stream/sse.ts";
import { startTestGateway, type TestGateway } from "../support/test_gateway.ts";

interface Route {
  readonly caller: Dialect;
  readonly path: string;
  readonly model: string;
  readonly upstream: Exclude<DialectName, "converse">;
}

const FAMILY_DIALECTS: readonly (readonly [
  string,
  Exclude<DialectName, "converse">,
])[] = [
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

/** Stop reasons that a client format cannot express, with the one that replaces them. */
const REPLACED_STOPS: Readonly<
  Record<string, Readonly<Record<string, string>>>
> = {
  messages: { other: "max_tokens" },
  chat_completions: {
    other: "max_tokens",
    pause: "max_tokens",
    context_window: "max_tokens",
    stop_sequence: "end",
  },
};

/** Content of a reply, independent of its format. */
interface Summary {
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
  const reader = sseParser();
  const decoder = route.caller.streamDecoder(PLAIN_CONTEXT);
  const events: ReplyEvent[] = [];
  for (
    const frame of [...reader.push(await response.bytes()), ...reader.end()]
  ) events.push(...decoder.push(frame));
  events.push(...decoder.end());
  assert.equal(events.at(-1)?.type, "end");
  return foldReply(events);
}

function summarize(reply: Reply): Summary {
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

function expected(fixture: WrittenFixture, route: Route): Summary {
  const content: Content = {
    ...fixture.content,
    ...(route.upstream === "responses"
      ? {}
      : fixture.contentIn?.[route.upstream]),
  };
  const refused = (content.refusal ?? "") !== "";
  // A stream that ends with `[DONE]` is complete even without a reason.
  const isUnexplained = fixture.name === "done-no-finish";
  const stop = refused ? "refusal" : isUnexplained ? "end" : content.stop;
  const usage = content.usage ??
    { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
  // Generate content reports cache writes as part of the input.
  const input = usage.input +
    (route.upstream === "generate_content" ? usage.cacheWrite : 0);
  return {
    text: content.text + (content.refusal ?? ""),
    thinking: content.thinking ?? "",
    tools: content.tools ?? [],
    stop: REPLACED_STOPS[route.caller.name]?.[stop] ?? stop,
    input,
    cacheRead: usage.cacheRead,
    output: usage.output,
  };
}

Deno.test("every fixture keeps its content through the gateway", async (t) => {
  await using gateway = await startTestGateway();
  for (const fixture of WRITTEN.values()) {
    for (const route of ROUTES) {
      // Other formats' clients learn an unknown word as a failure.
      const isFailure = fixture.name === "unknown-stop" &&
        route.caller.name !== route.upstream;
      if (isFailure) continue;
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
            const wanted = expected(fixture, route);
            // Bytes that pass through keep the upstream's own stop reason.
            const passed = route.caller.name === route.upstream;
            assert.deepEqual(
              summarize(reply),
              passed ? { ...wanted, stop: reply.stop?.reason } : wanted,
            );
          },
        );
      }
    }
  }
});

Deno.test("framing variants of a stream do not change its content", async (t) => {
  await using gateway = await startTestGateway();
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
            assert.deepEqual(summarize(changed), summarize(plain));
          },
        );
      }
    }
  }
});

Deno.test("parts that a client's format cannot carry are named", async (t) => {
  await using gateway = await startTestGateway();
  const kinds: Readonly<Record<string, string>> = {
    messages: "reply.future_block",
    generate_content: "reply.futurePart",
  };
  for (const route of ROUTES) {
    for (const stream of [false, true]) {
      await t.step(
        `${route.caller.name} from ${route.upstream}, ${
          stream ? "streamed" : "whole"
        }`,
        async () => {
          const response = await gateway.post(route.path, {
            model: route.model,
            max_tokens: 500,
            stream,
            messages: [{ role: "user", content: "[[fx:unknown-event]]" }],
          });
          await response.text();
          const lost = route.caller.name === route.upstream
            ? undefined
            : kinds[route.upstream];
          // The head of a stream is sent before its parts are known.
          assert.equal(
            response.headers.get("x-gateway-dropped") ?? undefined,
            stream ? undefined : lost,
          );
          const id = response.headers.get("request-id");
          const entry = await gateway.logEntry((one) => one.request_id === id);
          assert.deepEqual(entry.dropped, lost && [lost]);
        },
      );
    }
  }
});
