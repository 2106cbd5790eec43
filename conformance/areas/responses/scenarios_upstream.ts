/** Scenarios of the area `responses` that depend on the upstream: its bytes, pauses and words. */
import type { JsonObject } from "@model-gateway/replay/json";
import type { Scenario } from "../../suite/scenario.ts";
import {
  demanding,
  FORMS,
  perRoute,
  requestOf,
  sendInBothForms,
  WEATHER,
} from "./requests.ts";

const { strict: _, ...UNSPECIFIED } = WEATHER;

/** What an agent sends with every request; so many tools precede the one that a vendor runs. */
function agentBody(...more: readonly JsonObject[]): JsonObject {
  return {
    tools: [
      WEATHER,
      {
        type: "namespace",
        name: "mcp__notes",
        description: "Notes.",
        tools: [{ ...WEATHER, name: "read_note" }],
      },
      ...more,
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "5d1c9f02-0000-4000-8000-000000000000",
    client_metadata: { originator: "agent" },
  };
}

/** The place in `tools` of the tool that a vendor runs. */
export const HOSTED_AT = "tools[2]";

/** Scenarios of the area, part of `RESPONSES_SCENARIOS`. */
export const RESPONSES_UPSTREAM_SCENARIOS: readonly Scenario[] = [
  {
    name: "responses-passed",
    about: "A reply in unusual bytes, from an upstream of the same format",
    mode: "replay",
    cost: perRoute(2),
    async play(session) {
      for (const route of session.routes("responses")) {
        if (route.via !== "responses") continue;
        for (const form of FORMS) {
          await session.send(requestOf(route, form, "passed", {
            input: session.prompt("passed", "Say something."),
          }));
        }
      }
    },
  },
  {
    name: "responses-pause",
    about: "An upstream that pauses in the middle of its stream",
    mode: "replay",
    cost: perRoute(1),
    async play(session) {
      await Promise.all(
        session.routes("responses").map(async (route) => {
          const nonce = session.nonce();
          // The frames of this dialect are few and long.
          const at = route.via === "generate_content" ? 1 : 5;
          const fixture = `text?gate=g${nonce}&at=${at}`;
          const underway = session.begin({
            ...requestOf(route, "stream", "pause", {
              input: session.prompt(fixture, "Speak.", nonce),
            }),
            slow: true,
          });
          await underway.bodyContains(
            "keepalive",
            session.keepAliveMs + session.patienceMs,
          );
          session.replay.openGate(`g${nonce}`);
          await underway.finish();
        }),
      );
    },
  },
  {
    name: "responses-strict",
    about: "Functions that are strict, and that do not state it",
    mode: "replay",
    cost: perRoute(2),
    play: (session) =>
      sendInBothForms(session, {
        strict: () => ({
          ...demanding(session, "The weather in Paris."),
          tools: [{ ...WEATHER, strict: true }],
        }),
        unspecified: () => ({
          ...demanding(session, "The weather in Paris."),
          tools: [UNSPECIFIED],
        }),
      }, ["whole"]),
  },
  {
    name: "responses-agent",
    about: "What an agent sends, where nothing may be left out, and elsewhere",
    mode: "replay",
    cost: perRoute(3),
    async play(session) {
      const strictly = {
        headers: [["x-gateway-strict", "true"]],
      } as const;
      for (const route of session.routes("responses")) {
        const ask = (name: string, body: JsonObject) =>
          requestOf(route, "whole", name, {
            ...body,
            input: [
              { role: "developer", content: "Work carefully." },
              { role: "user", content: session.prompt("text", "Begin.") },
            ],
          });
        const search = { type: "web_search" };
        await Promise.all([
          session.send(ask("agent", agentBody(search))),
          session.send({ ...ask("strictly", agentBody()), ...strictly }),
          session.send({
            ...ask("strictly-searching", agentBody(search)),
            ...strictly,
          }),
        ]);
      }
    },
  },
];
