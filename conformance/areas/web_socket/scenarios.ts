/** Scenarios of the area `web_socket`: turns of the Responses format through a web socket. */
import { textAt } from "../../evidence/json_path.ts";
import { responseOf } from "../../endpoints/read_responses.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { JsonObject } from "@model-gateway/replay/json";
import type { Route } from "../../suite/route.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Session, SocketSession } from "../../suite/session.ts";
import { webSocketHandshake } from "../../suite/web_socket_handshake.ts";
import { WEATHER } from "../responses/requests.ts";
import { SETTINGS } from "../responses/scenarios.ts";

const OUTPUT_TOKENS = 16;

/** Texts of turns that a later one must reach the model with. */
export const SAID = {
  instructions: "Be brief, says the preparation.",
  prepared: "Prepared words.",
  first: "First words.",
} as const;

/** A message that asks for a reply. */
function create(route: Route, body: JsonObject): JsonObject {
  return {
    type: "response.create",
    model: route.model,
    max_output_tokens: OUTPUT_TOKENS,
    ...body,
  };
}

function idOf(x: Exchange): string {
  return textAt(responseOf(x), "id");
}

/** Opens a connection, plays, and closes it. */
async function withSocket(
  session: Session,
  play: (socket: SocketSession) => Promise<void>,
): Promise<void> {
  const socket = await session.openSocket();
  try {
    await play(socket);
  } finally {
    await socket.close();
  }
}

/** Runs on every route, or on the first in a live run. */
async function onRoutes(
  session: Session,
  routes: "all" | "first",
  play: (
    route: Route,
    turn: (name: string, body: JsonObject) => Promise<Exchange>,
    socket: SocketSession,
  ) => Promise<void>,
): Promise<void> {
  const all = session.routes("responses");
  await Promise.all(
    (routes === "all" ? all : all.slice(0, 1)).map((route) =>
      withSocket(session, (socket) =>
        play(
          route,
          async (name, body) => {
            const x = await socket.turn(`socket/${route.name}/${name}`, route, [
              body["type"] === undefined ? create(route, body) : body,
            ]);
            if (x.ending === "complete") return x;
            throw new Error(`the turn "${name}" was ${x.ending}`);
          },
          socket,
        ))
    ),
  );
}

function perRoute(turns: number, connections: number): Scenario["cost"] {
  return ({ responses }) => ({
    requests: (turns + connections) * responses.length,
    inputTokens: turns * responses.length * 200,
    outputTokens: turns * responses.length * OUTPUT_TOKENS,
  });
}

export const WEB_SOCKET_SCENARIOS: readonly Scenario[] = [
  {
    name: "web-socket-handshake",
    about: "The handshake of a web socket, with a key and without",
    mode: "both",
    cost: () => ({ requests: 2, inputTokens: 0, outputTokens: 0 }),
    async play(session) {
      for (
        const [name, key] of [
          ["with-key", session.key],
          ["without-key", undefined],
        ] as const
      ) await session.send(webSocketHandshake(key, `socket/any/${name}`));
    },
  },
  {
    name: "web-socket-turns",
    about: "Several turns through one web socket, each continuing the last",
    mode: "both",
    cost: perRoute(4, 1),
    play: (session) =>
      onRoutes(session, "all", async (_, turn) => {
        const said = (words: string): string => session.prompt("text", words);
        const first = await turn("stored", { input: said(SAID.first) });
        const previous = (x: Exchange): JsonObject => ({
          previous_response_id: idOf(x),
        });
        await turn("continued", {
          input: said("Go on."),
          ...previous(first),
        });
        const kept = await turn("unstored", {
          input: said(SAID.first),
          store: false,
        });
        await turn("continued-unstored", {
          input: said("Go on."),
          store: false,
          ...previous(kept),
        });
      }),
  },
  {
    name: "web-socket-contents",
    about: "Replies through a web socket whose content is known",
    mode: "replay",
    cost: perRoute(7, 1),
    play: (session) =>
      onRoutes(session, "all", async (_, turn) => {
        for (const name of ["thinking-tool", "max-tokens", "text-unicode"]) {
          await turn(name, {
            input: session.prompt(name, "Say something."),
            tools: [WEATHER],
          });
        }
        const input = session.prompt("text", "Say something.");
        await turn("settings", { ...SETTINGS, input });
      }),
  },
  {
    name: "web-socket-events",
    about: "Preparation, steering, and what cannot be done, before a turn",
    mode: "both",
    cost: perRoute(8, 2),
    play: (session) =>
      onRoutes(session, "first", async (route, turn) => {
        const said = (words: string): string => session.prompt("text", words);
        const prepared = await turn("prepared", {
          instructions: SAID.instructions,
          input: SAID.prepared,
          generate: false,
          store: false,
        });
        await turn("after-preparation", {
          input: said("Now."),
          store: false,
          previous_response_id: idOf(prepared),
        });
        await turn("steer", {
          type: "response.steer",
          previous_response_id: idOf(prepared),
          input: "Say it in French.",
        });
        await turn("unknown-type", { type: "response.dream" });
        await turn("wrong", { input: "Hello.", temperature: "hot" });
        await turn("unknown-model", {
          ...create(route, { input: "Hello." }),
          model: "no-such-model-17",
        });
        const last = await turn("after-refusals", {
          input: said("Now."),
          store: false,
        });
        await withSocket(session, async (other) => {
          await other.turn(`socket/${route.name}/elsewhere`, route, [
            create(route, {
              input: "Go on.",
              previous_response_id: idOf(last),
            }),
          ]);
        });
      }),
  },
  {
    name: "web-socket-order",
    about: "Two turns that are sent at once",
    mode: "replay",
    cost: perRoute(2, 1),
    play: (session) =>
      onRoutes(session, "all", async (route, _, socket) => {
        await socket.turn(`socket/${route.name}/at-once`, route, [
          create(route, { input: session.prompt("text?split=80", "One.") }),
          create(route, { input: session.prompt("max-tokens", "Two.") }),
        ]);
      }),
  },
  {
    name: "web-socket-failures",
    about: "Upstreams that limit the rate, and that break off",
    mode: "replay",
    cost: perRoute(4, 1),
    play: (session) =>
      onRoutes(session, "all", async (_, turn) => {
        const fixtures = {
          limited: "status?code=429&after=7",
          broken: "text?frames=5&end=fin",
          "after-failures": "text",
        };
        for (const [name, fixture] of Object.entries(fixtures)) {
          await turn(name, {
            input: session.prompt(fixture, "Say something."),
          });
        }
      }),
  },
  {
    name: "web-socket-closed",
    about: "A client that closes the connection while the upstream is silent",
    mode: "replay",
    cost: perRoute(1, 1),
    async play(session) {
      const [route] = session.routes("responses");
      if (route === undefined) return;
      const socket = await session.openSocket();
      const nonce = session.nonce();
      const underway = socket.begin(`socket/${route.name}/closed`, route, [
        create(route, {
          input: session.prompt("hold-mid?frames=99", "Say hello.", nonce),
        }),
      ]);
      await session.logEntryOf(nonce, session.patienceMs);
      await underway.bodyContains("delta", session.patienceMs);
      underway.disconnect();
      await underway.finish();
      const ending = await session.upstreamEnding(nonce, session.patienceMs);
      session.note("upstream", ending ?? "still open");
      await socket.close();
    },
  },
];
