/** Scenarios with what only an upstream of the client's own format sends. */
import {
  CONTENT_FORMS,
  contentCost,
  contentRequest,
  contents,
} from "../../suite/content_requests.ts";
import { FULL_REQUESTS } from "./full_requests.ts";
import { OTHER_REQUESTS } from "./other_requests.ts";
import { plainRequest, streamed } from "../../suite/requests.ts";
import { perRoute, requestOf } from "../responses/requests.ts";
import { calls, type Scenario } from "../../suite/scenario.ts";

export const EXTRAS = "extras";

/** The requests with nearly all members of their formats, by name. */
const FULL = {
  "full-request": FULL_REQUESTS,
  "other-request": OTHER_REQUESTS,
} as const;

export const FULL_NAMES = Object.keys(FULL);

/** The scenarios by their endpoint; labels are `ENDPOINT/ROUTE/FORM/extras`. */
export const EXTRA_SCENARIOS: Readonly<
  Record<"messages" | "chat" | "generate_content" | "responses", Scenario>
> = {
  messages: ofGeneration("messages", "messages"),
  chat: ofGeneration("chat", "chat_completions"),
  generate_content: {
    name: "generate_content-extras",
    about: "What only generate content has, from an upstream of that format",
    mode: "replay",
    cost: contentCost(5),
    async play(session) {
      for (const route of session.routes("generate_content")) {
        if (route.via !== "generate_content") continue;
        for (const form of CONTENT_FORMS) {
          const prompt = session.prompt(EXTRAS, "Add.");
          await session.send(
            contentRequest(route, form, EXTRAS, contents(prompt)),
          );
        }
        for (const [name, { generateContent }] of Object.entries(FULL)) {
          const full = generateContent(session.prompt(EXTRAS, "Add."));
          await session.send(contentRequest(route, "whole", name, full));
        }
      }
    },
  },
  responses: {
    name: "responses-extras",
    about: "Full requests to an upstream of the same format",
    mode: "replay",
    cost: perRoute(2),
    async play(session) {
      for (const route of session.routes("responses")) {
        if (route.via !== "responses") continue;
        for (const [name, { responses }] of Object.entries(FULL)) {
          const full = responses(session.prompt(EXTRAS, "Add."));
          await session.send(requestOf(route, "whole", name, full));
        }
      }
    },
  },
};

function ofGeneration(
  endpoint: "messages" | "chat",
  via: "messages" | "chat_completions",
): Scenario {
  return {
    name: `${endpoint}-extras`,
    about: "What only this format has, from an upstream of the same format",
    mode: "replay",
    cost: calls(4, 2000),
    async play(session) {
      for (const route of session.routes(endpoint)) {
        if (route.via !== via) continue;
        for (const form of ["whole", "stream"]) {
          await session.send(plainRequest(
            endpoint,
            route,
            `${form}/${EXTRAS}`,
            session.prompt(EXTRAS, "Add."),
            form === "stream" ? streamed(endpoint) : {},
          ));
        }
        for (const [name, requests] of Object.entries(FULL)) {
          const full = requests[endpoint](session.prompt(EXTRAS, "Add."));
          await session.send(
            plainRequest(endpoint, route, `whole/${name}`, "", full),
          );
        }
      }
    },
  };
}
