/** Scenarios of the area `responses`: earlier turns, media, and what they are upstream. */
import { PIXEL } from "../upstream/scenarios_request.ts";
import { mapValues } from "@model-gateway/replay/map_values";
import type { Json, JsonObject } from "@model-gateway/replay/json";
import { at, listAt, textAt } from "../../evidence/json_path.ts";
import type { Session } from "../../suite/session.ts";
import type { Scenario } from "../../suite/scenario.ts";
import { perRoute, requestOf, sendInBothForms, WEATHER } from "./requests.ts";

export const PICTURE_URL = "https://example.com/picture.png";
export const DOCUMENT = "JVBERi0xLjQKJcOkw7zDtsOfCg==";
export const FILE_TEXT = "The file says: seventeen.";

const text = (words: string): JsonObject => ({
  type: "input_text",
  text: words,
});
const image = (image_url: string): JsonObject => ({
  type: "input_image",
  image_url,
  detail: "auto",
});
const file = (filename: string, file_data: string): JsonObject => ({
  type: "input_file",
  filename,
  file_data,
});
const DATA_URL = `data:image/png;base64,${PIXEL}`;

/** Parts of a user turn, by the name of the request. */
const PARTS: Readonly<Record<string, JsonObject>> = {
  "image-data": image(DATA_URL),
  "image-url": image(PICTURE_URL),
  pdf: file("paper.pdf", `data:application/pdf;base64,${DOCUMENT}`),
  "text-file": file("note.txt", `data:text/plain;base64,${btoa(FILE_TEXT)}`),
};

const user = (content: Json): JsonObject => ({ role: "user", content });
const call = (call_id: string, args: string, more = {}): JsonObject => ({
  type: "function_call",
  id: `fc_${call_id}`,
  call_id,
  name: "get_weather",
  arguments: args,
  status: "completed",
  ...more,
});
const output = (call_id: string, result: Json): JsonObject => ({
  type: "function_call_output",
  id: `fco_${call_id}`,
  call_id,
  output: result,
});

export const PATCH = '*** Begin Patch\n+ "é" \\ 你好\n*** End Patch';

/** Items between the first question and the last one, by the name of the request. */
const BETWEEN: Readonly<Record<string, readonly JsonObject[]>> = {
  calls: [
    call("call_1", '{"city":"Paris"}'),
    call("call_2", '{"city":"Tokyo"}'),
    output("call_2", "20 degrees in Tokyo"),
    output("call_1", "12 degrees in Paris"),
  ],
  between: [
    call("call_1", '{"city":"Paris"}'),
    { role: "assistant", content: "I am looking it up." },
    output("call_1", "12 degrees in Paris"),
  ],
  "empty-arguments": [call("call_1", ""), output("call_1", "done")],
  "picture-result": [
    call("call_1", "{}"),
    output("call_1", [text("the map"), image(DATA_URL)]),
  ],
  custom: [
    {
      type: "custom_tool_call",
      id: "ctc_1",
      call_id: "call_1",
      name: "apply_patch",
      input: PATCH,
    },
    {
      type: "custom_tool_call_output",
      call_id: "call_1",
      output: "applied",
    },
  ],
  group: [
    call("call_1", '{"city":"Paris"}', { namespace: "south" }),
    output("call_1", "12 degrees in Paris"),
  ],
  "foreign-reasoning": [
    {
      type: "reasoning",
      id: "rs_1",
      summary: [],
      encrypted_content: "c2VhbGVkIGVsc2V3aGVyZQ==",
    },
    { role: "assistant", content: "The first answer." },
  ],
};

const HISTORY_TOOLS: readonly JsonObject[] = [
  WEATHER,
  { type: "custom", name: "apply_patch", description: "Applies a patch." },
  {
    type: "namespace",
    name: "south",
    description: "Tools of the south.",
    tools: [WEATHER],
  },
];

/** Sends a request for reasoning and a call, and the next turn with the items of its reply. */
async function replayReply(session: Session): Promise<void> {
  for (const route of session.routes("responses")) {
    const asked = user(session.prompt("thinking-tool", "The weather?"));
    const settings = {
      tools: [WEATHER],
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low", summary: "auto" },
      store: false,
      max_output_tokens: 4000,
    };
    const first = await session.send(
      requestOf(route, "whole", "first", { ...settings, input: [asked] }),
    );
    const items = listAt(first.json, "output");
    const outputs = items.filter((item) => at(item, "call_id") !== undefined)
      .map((item) => output(textAt(item, "call_id"), "12 degrees"));
    await session.send(
      requestOf(route, "whole", "second", {
        ...settings,
        input: [
          asked,
          ...items,
          ...outputs,
          user(session.prompt("text", "Say something.")),
        ],
      }),
    );
  }
}

export const RESPONSES_HISTORY_SCENARIOS: readonly Scenario[] = [
  {
    name: "responses-media",
    about: "Pictures and files in a user turn",
    mode: "replay",
    cost: perRoute(Object.keys(PARTS).length),
    play: (session) =>
      sendInBothForms(
        session,
        mapValues(PARTS, (part) => () => ({
          input: [
            user([text(session.prompt("text", "What is it?")), part]),
          ],
        })),
        ["whole"],
      ),
  },
  {
    name: "responses-history",
    about: "Calls, results and reasoning of earlier turns",
    mode: "replay",
    cost: perRoute(Object.keys(BETWEEN).length),
    play: (session) =>
      sendInBothForms(
        session,
        mapValues(BETWEEN, (items) => () => ({
          tools: HISTORY_TOOLS,
          input: [
            user("The first question."),
            ...items,
            user(session.prompt("text", "Say something.")),
          ],
        })),
        ["whole"],
      ),
  },
  {
    name: "responses-replayed",
    about: "A reply with reasoning and a call, sent back with the result",
    mode: "replay",
    cost: perRoute(2),
    play: replayReply,
  },
];
