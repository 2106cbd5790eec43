/** The sources of a reply's text, from upstreams of every format to clients of every other. */
import assert from "node:assert/strict";
import { arrayOr, type JsonObject, objectOr } from "./bytes/json.ts";
import { chatCompletions } from "./formats/chat_completions/mod.ts";
import { messages } from "./formats/messages/mod.ts";
import { responses } from "./formats/responses/mod.ts";
import { DEFAULT_CAPABILITIES } from "./model/capabilities.ts";
import type { DialectName } from "./model/request.ts";
import { streamed, whole } from "./testing/relayed.ts";
import {
  assistant,
  messagesOf,
  text,
  user,
} from "./testing/request_samples.ts";

const URL_A = "https://a.test/ruby";
const URL_B = "https://b.test/";
/** Its gem has two UTF-16 units and four bytes. Both sources are of `SECOND`. */
const FIRST = "\u{1f48e} Über ";
const SECOND = "Ruby 4 is out.";
const TEXT = FIRST + SECOND;
const START = FIRST.length;
const END = TEXT.length;
const BYTES = (text: string): number => new TextEncoder().encode(text).length;

interface Source {
  readonly whole: JsonObject;
  readonly frames: readonly JsonObject[];
}

const urlCitation = (url: string, title: string): JsonObject => ({
  start_index: START,
  end_index: END,
  url,
  title,
});
const CHAT_ANNOTATIONS = [
  { type: "url_citation", url_citation: urlCitation(URL_A, "A") },
  { type: "url_citation", url_citation: urlCitation(URL_B, "B") },
];
const chatChoice = (fields: JsonObject): JsonObject => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, ...fields }],
});
const CHAT: Source = {
  whole: chatChoice({
    message: { content: TEXT, annotations: CHAT_ANNOTATIONS },
    finish_reason: "stop",
  }),
  frames: [
    // A vendor that searches before it answers sends its sources first.
    chatChoice({ delta: { content: "", annotations: CHAT_ANNOTATIONS } }),
    chatChoice({ delta: { content: FIRST } }),
    chatChoice({ delta: { content: SECOND } }),
    chatChoice({ delta: {}, finish_reason: "stop" }),
  ],
};

const ANNOTATIONS = [
  { type: "url_citation", ...urlCitation(URL_A, "A") },
  { type: "url_citation", ...urlCitation(URL_B, "B") },
];
const ITEM = {
  type: "message",
  id: "msg_0",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: TEXT, annotations: ANNOTATIONS }],
};
const RESPONSE = { id: "r", object: "response", status: "completed" };
const place = { item_id: "msg_0", output_index: 0, content_index: 0 };
const RESPONSES: Source = {
  whole: { ...RESPONSE, output: [ITEM] },
  frames: [
    {
      type: "response.created",
      response: { ...RESPONSE, status: "in_progress", output: [] },
    },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...ITEM, content: [] },
    },
    { type: "response.output_text.delta", ...place, delta: TEXT },
    // The second one comes with the finished item alone.
    {
      type: "response.output_text.annotation.added",
      ...place,
      annotation_index: 0,
      annotation: ANNOTATIONS[0],
    },
    { type: "response.output_item.done", output_index: 0, item: ITEM },
    { type: "response.completed", response: { ...RESPONSE, output: [ITEM] } },
  ],
};

const citation = (url: string, title: string): JsonObject => ({
  type: "web_search_result_location",
  url,
  title,
  cited_text: "Ruby 4!",
  encrypted_index: "E==",
});
const NO_ADDRESS = {
  type: "char_location",
  cited_text: "x",
  document_index: 0,
  document_title: "facts.txt",
};
const MESSAGE = { id: "msg_1", type: "message", role: "assistant" };
const CITATIONS = [citation(URL_A, "A"), NO_ADDRESS, citation(URL_B, "B")];
const MESSAGES: Source = {
  whole: {
    ...MESSAGE,
    content: [
      text(FIRST),
      { type: "text", text: SECOND, citations: CITATIONS },
    ],
    stop_reason: "end_turn",
  },
  frames: [
    { type: "message_start", message: { ...MESSAGE, content: [] } },
    ...[FIRST, SECOND].flatMap((text, index) => [
      {
        type: "content_block_start",
        index,
        content_block: { type: "text", text: "" },
      },
      // Before the text that they are for.
      ...(index === 0 ? [] : CITATIONS.map((one) => ({
        type: "content_block_delta",
        index,
        delta: { type: "citations_delta", citation: one },
      }))),
      {
        type: "content_block_delta",
        index,
        delta: { type: "text_delta", text },
      },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "message_stop" },
  ],
};

const GROUNDING = {
  groundingMetadata: {
    groundingChunks: [
      { web: { uri: URL_A, title: "A" } },
      { web: { uri: URL_B, title: "B" } },
      { web: { title: "no address" } },
    ],
    groundingSupports: [{
      segment: { startIndex: BYTES(FIRST), endIndex: BYTES(TEXT) },
      groundingChunkIndices: [0, 1, 2, 77],
    }],
  },
  urlContextMetadata: {
    urlMetadata: [
      {
        retrievedUrl: URL_A,
        urlRetrievalStatus: "URL_RETRIEVAL_STATUS_SUCCESS",
      },
      {
        retrievedUrl: "https://c.test",
        urlRetrievalStatus: "URL_RETRIEVAL_STATUS_ERROR",
      },
    ],
  },
};
const part = (text: string): JsonObject => ({ content: { parts: [{ text }] } });
const GEMINI: Source = {
  whole: {
    candidates: [{ ...part(TEXT), ...GROUNDING, finishReason: "STOP" }],
  },
  frames: [
    { candidates: [{ ...part(FIRST), groundingMetadata: {} }] },
    {
      candidates: [{
        ...part(SECOND),
        groundingMetadata: {
          groundingChunks: GROUNDING.groundingMetadata.groundingChunks,
        },
      }],
    },
    { candidates: [{ ...part(""), ...GROUNDING, finishReason: "STOP" }] },
  ],
};

/** The sources of all texts are beside the parts of the reply, or of a frame. */
const BEFORE_CALL = {
  ...GROUNDING,
  content: {
    parts: [{ text: SECOND }, { functionCall: { name: "find", args: {} } }],
  },
  finishReason: "STOP",
};
const GEMINI_BEFORE_CALL: Source = {
  whole: {
    candidates: [{
      ...BEFORE_CALL,
      content: {
        parts: [{ text: FIRST }, ...BEFORE_CALL.content.parts],
      },
    }],
  },
  frames: [{ candidates: [part(FIRST)] }, { candidates: [BEFORE_CALL] }],
};

/** The label of each is the format, and what follows the text. */
const UPSTREAMS: readonly (readonly [DialectName, Source, string?])[] = [
  ["chat_completions", CHAT],
  ["responses", RESPONSES],
  ["messages", MESSAGES],
  ["generate_content", GEMINI],
  ["generate_content", GEMINI_BEFORE_CALL, "before a call"],
];

Deno.test("chat clients receive sources as annotations, with their places in the text", async (t) => {
  for (
    const [from, source, where = "alone"] of UPSTREAMS.filter(([name]) =>
      name !== "chat_completions"
    )
  ) {
    await t.step(`${from}, ${where}`, () => {
      const [choice] = arrayOr(
        whole(from, chatCompletions, source.whole)["choices"],
      ).map(objectOr);
      const message = objectOr(choice?.["message"]);
      assert.equal(message["content"], TEXT);
      assert.deepEqual(message["annotations"], CHAT_ANNOTATIONS);
      const deltas = streamed(from, chatCompletions, source.frames).flatMap(
        ({ choices }) =>
          arrayOr(choices).map((one) => objectOr(objectOr(one)["delta"])),
      );
      // Once, because the official library keeps the last list only.
      assert.deepEqual(
        deltas.flatMap(({ annotations }) => annotations ?? []),
        CHAT_ANNOTATIONS,
      );
      assert.equal(deltas.filter(({ annotations }) => annotations).length, 1);
    });
  }
});

Deno.test("clients of the Responses format receive sources as annotations", async (t) => {
  for (
    const [from, source, where = "alone"] of UPSTREAMS.filter(([name]) =>
      name !== "responses"
    )
  ) {
    await t.step(`${from}, ${where}`, () => {
      // Each text of the messages format is a part of its own.
      const from0 = from === "messages" ? START : 0;
      const expected = ANNOTATIONS.map((one) => ({
        ...one,
        start_index: START - from0,
        end_index: END - from0,
      }));
      const texts = (reply: JsonObject): readonly unknown[] =>
        arrayOr(reply["output"]).flatMap((item) =>
          arrayOr(objectOr(item)["content"])
        ).flatMap((one) => arrayOr(objectOr(one)["annotations"]));
      assert.deepEqual(texts(whole(from, responses, source.whole)), expected);
      const events = streamed(from, responses, source.frames);
      const added = events.filter(({ type }) =>
        type === "response.output_text.annotation.added"
      );
      assert.deepEqual(
        added.map((
          { annotation, annotation_index },
        ) => [annotation, annotation_index]),
        expected.map((one, at) => [one, at]),
      );
      assert.deepEqual(
        texts(objectOr(events.at(-1)?.["response"])),
        expected,
      );
    });
  }
});

Deno.test("messages clients receive sources as citations of the text block", async (t) => {
  for (
    const [from, source, where = "alone"] of UPSTREAMS.filter(([name]) =>
      name !== "messages"
    )
  ) {
    await t.step(`${from}, ${where}`, () => {
      const expected = [["A", URL_A], ["B", URL_B]].map(([title, url]) => ({
        type: "web_search_result_location",
        cited_text: "",
        url,
        title,
        encrypted_index: "",
      }));
      const [block] = arrayOr(
        whole(from, messages, source.whole)["content"],
      ).map(objectOr);
      assert.deepEqual(block?.["citations"], expected);
      const deltas = streamed(from, messages, source.frames).map(({ delta }) =>
        objectOr(delta)
      ).filter(({ type }) => type === "citations_delta");
      assert.deepEqual(
        deltas.map(({ citation: one }) => one),
        expected,
      );
    });
  }
});

Deno.test("citations that the gateway wrote do not return to a messages upstream", () => {
  const own = { ...citation(URL_A, "A"), encrypted_index: "" };
  const theirs = citation(URL_B, "B");
  const body = messagesOf(
    user("hi"),
    assistant({ type: "text", text: "1", citations: [own] }, {
      type: "text",
      text: "2",
      citations: [own, theirs],
    }, { type: "text", text: "3", citations: [theirs] }),
  );
  const can = DEFAULT_CAPABILITIES.messages;
  const cleaned = messages.cleanRequest(body, can);
  assert.deepEqual(cleaned?.removed, []);
  const [, turn] = arrayOr(cleaned?.fields["messages"]).map(objectOr);
  assert.deepEqual(turn?.["content"], [
    text("1"),
    { type: "text", text: "2", citations: [theirs] },
    { type: "text", text: "3", citations: [theirs] },
  ]);
  assert.equal(messages.cleanRequest(messagesOf(turn), can), undefined);
});

Deno.test("sources without supports, recitations and read pages are cited as a whole", () => {
  const metadata = {
    groundingMetadata: { groundingChunks: [{ maps: { uri: URL_A } }] },
    citationMetadata: {
      citationSources: [{ startIndex: 0, endIndex: 4, uri: URL_B }],
    },
    urlContextMetadata: { urlMetadata: [{ retrievedUrl: "https://c.test/" }] },
  };
  const reply = whole("generate_content", chatCompletions, {
    candidates: [{ ...part(TEXT), ...metadata, finishReason: "STOP" }],
  });
  const [choice] = arrayOr(reply["choices"]).map(objectOr);
  assert.deepEqual(
    arrayOr(objectOr(choice?.["message"])["annotations"]).map((one) =>
      objectOr(one)["url_citation"]
    ),
    [
      { start_index: 0, end_index: END, title: URL_A, url: URL_A },
      { start_index: 0, end_index: 2, title: URL_B, url: URL_B },
      {
        start_index: 0,
        end_index: END,
        title: "https://c.test/",
        url: "https://c.test/",
      },
    ],
  );
});

Deno.test("sources beside the choices of a chat reply are cited once, unless it has annotations", () => {
  const results = [{ title: "A", url: URL_A, snippet: "Ruby 4!" }, {
    url: URL_B,
  }];
  const lists = {
    "addresses alone": { citations: [URL_A, URL_B] },
    "with titles": { citations: [URL_B], search_results: results },
    "beside annotations": { citations: [URL_A], ...CHAT.whole },
  };
  for (const [name, list] of Object.entries(lists)) {
    const frames = CHAT.frames.map((frame) => ({
      ...frame,
      ...list,
      choices: name === "beside annotations"
        ? frame["choices"]
        : arrayOr(frame["choices"]).map((choice) => ({
          ...objectOr(choice),
          delta: { content: objectOr(objectOr(choice)["delta"])["content"] },
        })),
    }));
    const cited = streamed("chat_completions", messages, frames)
      .map(({ delta }) => objectOr(objectOr(delta)["citation"]))
      .filter(({ url }) => url !== undefined);
    const full = whole("chat_completions", messages, {
      ...chatChoice({ message: { content: TEXT }, finish_reason: "stop" }),
      ...list,
    });
    const [block] = arrayOr(full["content"]).map(objectOr);
    assert.deepEqual(cited.map(({ url }) => url), [URL_A, URL_B], name);
    assert.deepEqual(
      arrayOr(block?.["citations"]).map((one) => objectOr(one)["url"]),
      [URL_A, URL_B],
      name,
    );
    if (name === "with titles") {
      assert.deepEqual(
        cited.map(({ title, cited_text }) => [title, cited_text]),
        [["A", "Ruby 4!"], [null, ""]],
      );
    }
  }
});

Deno.test("a source's place counts from the beginning of the part that it names", () => {
  const support = (partIndex: number, startIndex: number, text: string) => ({
    segment: {
      ...(partIndex === 0 ? {} : { partIndex }),
      startIndex,
      endIndex: startIndex + BYTES(text),
      text,
    },
    groundingChunkIndices: [0],
  });
  const reply = whole("generate_content", chatCompletions, {
    candidates: [{
      content: {
        parts: [
          { text: "hm", thought: true },
          { text: "Ça dépend. " },
          { text: "Né en été." },
          { functionCall: { name: "find", args: {} } },
          { text: "Il là." },
        ],
      },
      groundingMetadata: {
        groundingChunks: [{ web: { uri: URL_A } }],
        // The vendor leaves the index out, too, where the first part is a thought.
        groundingSupports: [
          support(0, 0, "Ça"),
          support(1, 4, "dépend"),
          support(2, 7, "été"),
          // The text before a call is a block of its own.
          support(4, 3, "là"),
        ],
      },
      finishReason: "STOP",
    }],
  });
  const [choice] = arrayOr(reply["choices"]).map(objectOr);
  const { content, annotations } = objectOr(choice?.["message"]);
  assert.deepEqual(
    arrayOr(annotations).map((one) => {
      const { start_index: start, end_index: end } = objectOr(
        objectOr(one)["url_citation"],
      );
      return String(content).slice(Number(start), Number(end));
    }),
    ["Ça", "dépend", "été", "là"],
  );
});

Deno.test("hostile metadata gives no more than the most citations, quickly", () => {
  const { choices } = whole("generate_content", chatCompletions, {
    candidates: [{
      ...part("é".repeat(50_000)),
      groundingMetadata: {
        groundingChunks: [{ web: { uri: URL_A } }, null, 7],
        groundingSupports: Array.from({ length: 20_000 }, (_, at) => ({
          segment: { startIndex: 100_000 - at, endIndex: at === 0 ? "x" : 1e9 },
          groundingChunkIndices: [0, 1, 2, -1, "0", 1e9],
        })),
      },
      finishReason: "STOP",
    }],
  });
  const [choice] = arrayOr(choices).map(objectOr);
  const { annotations } = objectOr(choice?.["message"]);
  assert.equal(arrayOr(annotations).length, 1_000);
});
