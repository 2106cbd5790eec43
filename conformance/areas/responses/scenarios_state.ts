/** Scenarios of the area `responses`: replies that the target keeps. */
import type { JsonObject } from "@model-gateway/replay/json";
import { listAt, textAt } from "../../evidence/json_path.ts";
import type { Route } from "../../suite/route.ts";
import type { Session } from "../../suite/session.ts";
import type { TestRequest } from "../../suite/test_request.ts";
import type { Scenario } from "../../suite/scenario.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { FEW_TOKENS, perRoute, requestOf } from "./requests.ts";

export const TURNS = ["My name is Ada.", "I like tea.", "Say both."] as const;

export const ONCE = "Rhyme, says the first turn only.";

async function read(
  session: Session,
  route: Route,
  name: string,
  method: string,
  path: string,
  by: Pick<TestRequest, "by"> = {},
): Promise<Exchange> {
  return await session.send({
    ...by,
    label: `responses/${route.name}/${method}/${name}`,
    endpoint: "responses",
    method,
    path: `/v1/responses/${path}`,
  });
}

/** Plays on the first route, and on the one whose vendor keeps replies itself. */
async function play(session: Session): Promise<void> {
  const routes = session.routes("responses").filter(({ via }, index) =>
    index === 0 || via === "responses"
  );
  await Promise.all(routes.map((route) => playOn(session, route)));
}

async function playOn(session: Session, route: Route): Promise<void> {
  const say = (
    name: string,
    words: string,
    more: JsonObject,
    form: "whole" | "stream" = "whole",
  ): Promise<Exchange> =>
    session.send(
      requestOf(route, form, name, {
        input: session.prompt("text", words),
        max_output_tokens: FEW_TOKENS,
        ...more,
      }),
    );
  const idIn = (x: Exchange): string =>
    textAt(x.json, "id") ||
    textAt(x.frames.at(-1)?.json, "response.id") || "resp_none";
  const first = await say("first", TURNS[0], { instructions: ONCE });
  // A client may continue as soon as it has the last frame of a stream.
  const second = await say("second", TURNS[1], {
    previous_response_id: idIn(first),
  }, "stream");
  const third = await say("third", TURNS[2], {
    previous_response_id: idIn(second),
  });
  const items = listAt(first.json, "output").map((item) => ({
    type: "item_reference",
    id: textAt(item, "id"),
  }));
  await session.send(requestOf(route, "whole", "reference", {
    max_output_tokens: FEW_TOKENS,
    input: [
      { role: "user", content: TURNS[0] },
      ...items,
      { role: "user", content: session.prompt("text", TURNS[1]) },
    ],
  }));
  await read(session, route, "stored", "GET", idIn(third));
  await read(session, route, "streamed", "GET", idIn(second));
  await read(session, route, "items", "GET", `${idIn(third)}/input_items`);
  await read(session, route, "stored", "DELETE", idIn(third));
  await read(session, route, "deleted", "GET", idIn(third));
  await read(
    session,
    route,
    "deleted-items",
    "GET",
    `${idIn(third)}/input_items`,
  );
  await read(session, route, "deleted", "DELETE", idIn(third));
  await say("after-delete", TURNS[1], { previous_response_id: idIn(third) });
  const unstored = await say("unstored", TURNS[0], { store: false });
  await read(session, route, "unstored", "GET", idIn(unstored));
  await say("after-unstored", TURNS[1], {
    previous_response_id: idIn(unstored),
  });
}

/** Another key of the account asks for a reply, and continues it; then the first key reads it. */
async function playOther(session: Session): Promise<void> {
  const by = { by: "other" } as const;
  for (const route of session.routes("responses").slice(0, 1)) {
    const body = (words: string): JsonObject => ({
      input: session.prompt("text", words),
      max_output_tokens: FEW_TOKENS,
    });
    const made = await session.send(
      requestOf(route, "whole", "made", body(TURNS[0])),
    );
    const id = textAt(made.json, "id") || "resp_none";
    const own = await session.send({
      ...requestOf(route, "whole", "own", body(TURNS[0])),
      ...by,
    });
    await read(session, route, "own", "GET", textAt(own.json, "id"), by);
    await read(session, route, "foreign", "GET", id, by);
    await read(session, route, "foreign-items", "GET", `${id}/input_items`, by);
    await read(session, route, "foreign", "DELETE", id, by);
    await read(session, route, "unknown", "GET", `${id.slice(0, -1)}_`, by);
    await session.send({
      ...requestOf(route, "whole", "foreign-continued", {
        ...body(TURNS[1]),
        previous_response_id: id,
      }),
      ...by,
    });
    await session.send({
      ...requestOf(route, "whole", "foreign-item", {
        max_output_tokens: FEW_TOKENS,
        input: [
          {
            type: "item_reference",
            id: textAt(listAt(made.json, "output")[0], "id"),
          },
          { role: "user", content: session.prompt("text", TURNS[1]) },
        ],
      }),
      ...by,
    });
    await read(session, route, "kept", "GET", id);
  }
}

export const RESPONSES_STATE_SCENARIOS: readonly Scenario[] = [
  {
    name: "responses-state",
    about: "A chain of three replies, read, referred to and deleted",
    mode: "both",
    cost: perRoute(15, FEW_TOKENS),
    play,
  },
  {
    name: "responses-other-key",
    about: "A reply that another key of the account asks for",
    mode: "both",
    cost: perRoute(10, FEW_TOKENS),
    play: playOther,
  },
];
