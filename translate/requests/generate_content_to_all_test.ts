/** Requests in the generate-content format, as upstreams of the other formats receive them. */
import type { DialectName } from "../mod.ts";
import {
  contentBy,
  contentsOf,
  functionCall,
  functionResponse,
  objectOf,
  PDF,
  PNG,
} from "../testing/request_samples.ts";
import {
  checkRows,
  type RequestRow,
  type RequestTable,
} from "../testing/request_table.ts";

const HI = contentBy("user", { text: "hi" });
const BASE = { model: "m", contents: [HI] };
const OTHERS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "responses",
  "converse",
];

const table = (
  to: DialectName,
  models: RequestTable["models"] = { m: {} },
): RequestTable => ({ from: "generate_content", to, base: BASE, models });

const config = (fields: object): RequestRow["body"] => ({
  generationConfig: fields,
});
const calling = (functionCallingConfig: object): RequestRow["body"] => ({
  tools: [{ functionDeclarations: [{ name: "f" }, { name: "g" }] }],
  toolConfig: { functionCallingConfig },
});
const user = (...parts: unknown[]): RequestRow["body"] =>
  contentsOf({ role: "user", parts });

const SCHEMA = {
  type: "OBJECT",
  properties: { type: { type: "STRING", nullable: true } },
  required: ["type"],
  propertyOrdering: ["type"],
};
const JSON_SCHEMA = objectOf({ type: { type: ["string", "null"] } }, "type");

/** Fields that become the same in every other format. */
const EVERYWHERE: readonly RequestRow[] = [
  {
    name: "a cache at the vendor is refused",
    body: { cachedContent: "cachedContents/1" },
    param: "cachedContent",
  },
  {
    name: "a continuation is refused",
    body: { continuationToken: "t" },
    param: "continuationToken",
  },
  {
    name: "several replies are refused",
    body: config({ candidateCount: 2 }),
    param: "generationConfig.candidateCount",
  },
  { name: "one answer is no loss", body: config({ candidateCount: 1 }) },
  {
    name: "sounds as a reply are refused",
    body: config({ responseModalities: ["AUDIO"] }),
    param: "generationConfig.responseModalities",
  },
  {
    name: "text as a reply is no loss",
    body: config({ responseModalities: ["TEXT"] }),
  },
  {
    name: "an enumeration as a reply is refused",
    body: config({
      responseMimeType: "text/x.enum",
      responseSchema: { type: "STRING", enum: ["a"] },
    }),
    param: "generationConfig.responseMimeType",
  },
  {
    name: "a tool that the vendor runs is refused where it is alone",
    body: { tools: [{ googleSearch: {} }] },
    param: "tools[0].googleSearch",
  },
  {
    name: "and named beside functions",
    body: {
      tools: [{ functionDeclarations: [{ name: "f" }] }, {
        code_execution: {},
      }],
    },
    dropped: ["tools[1].code_execution"],
  },
  {
    name: "settings of the vendor are named",
    body: {
      safetySettings: [{
        category: "HARM_CATEGORY_HATE_SPEECH",
        threshold: "BLOCK_NONE",
      }],
      labels: { team: "x" },
      toolConfig: { retrievalConfig: { languageCode: "en" } },
      generationConfig: {
        mediaResolution: "MEDIA_RESOLUTION_LOW",
        speechConfig: {},
      },
    },
    dropped: [
      "safetySettings",
      "labels",
      "toolConfig.retrievalConfig",
      "generationConfig.mediaResolution",
      "generationConfig.speechConfig",
    ],
  },
  {
    name: "a stored file is refused",
    body: user({
      fileData: { mimeType: "image/png", fileUri: "gs://b/x.png" },
    }),
    param: "contents[0].parts[0]",
  },
  {
    name: "a film is refused",
    body: user({ fileData: { fileUri: "https://youtu.be/x" } }),
    param: "contents[0].parts[0]",
  },
  {
    name: "a film's bytes are refused",
    body: user({ inlineData: { mimeType: "video/mp4", data: "AAAA" } }),
    param: "contents[0].parts[0]",
  },
  {
    name: "what the vendor ran in an earlier turn is named",
    body: contentsOf(
      HI,
      contentBy(
        "model",
        { executableCode: { language: "PYTHON", code: "1" } },
        {
          text: "ok",
        },
      ),
      HI,
    ),
    dropped: ["contents[1].parts[0]"],
  },
  {
    name: "an unknown role",
    body: contentsOf(contentBy("system", { text: "x" })),
    param: "contents[0].role",
  },
  {
    name: "an unknown mode",
    body: { toolConfig: { functionCallingConfig: { mode: "SOME" } } },
    param: "toolConfig.functionCallingConfig.mode",
  },
  {
    name: "an unknown level",
    body: config({ thinkingConfig: { thinkingLevel: "ultra" } }),
    param: "generationConfig.thinkingConfig.thinkingLevel",
  },
  {
    name: "a field of the wrong type, in the client's spelling",
    body: { generation_config: { max_output_tokens: "9" } },
    param: "generation_config.max_output_tokens",
  },
  {
    name: "a field in both spellings",
    body: config({ maxOutputTokens: 9, max_output_tokens: 99 }),
    param: "generationConfig.max_output_tokens",
  },
  { name: "no turns", body: contentsOf(), param: "contents" },
  {
    name: "a call without a result",
    body: contentsOf(HI, contentBy("model", functionCall("f")), HI),
    param: "contents[1].parts[0].functionCall",
  },
  {
    name: "a result without a call",
    body: user(functionResponse("f", {})),
    param: "contents[0].parts[0].functionResponse",
  },
  { name: "a model in the body is named", body: { model: "m" } },
];

Deno.test("what no other format has is refused or named", async (t) => {
  for (const to of OTHERS) {
    await t.step(to, (step) =>
      checkRows(step, table(to), [...EVERYWHERE, {
        name: "probabilities of tokens",
        body: config({ responseLogprobs: true, logprobs: 2 }),
        ...(to === "chat_completions"
          ? { arrives: { logprobs: true, top_logprobs: 2 } }
          : to === "responses"
          ? { arrives: { top_logprobs: 2 } }
          : { dropped: ["generationConfig.responseLogprobs"] }),
      }]));
  }
});

const TO_CHAT: readonly RequestRow[] = [
  {
    name: "settings",
    body: {
      systemInstruction: { parts: [{ text: "Be" }, { text: "brief." }] },
      generationConfig: {
        maxOutputTokens: 9,
        temperature: 1.5,
        topP: 0.5,
        seed: 7,
        stopSequences: ["END"],
        presencePenalty: 0.5,
        frequencyPenalty: 0.25,
      },
    },
    arrives: {
      max_tokens: 9,
      temperature: 1.5,
      top_p: 0.5,
      seed: 7,
      stop: ["END"],
      presence_penalty: 0.5,
      frequency_penalty: 0.25,
      "messages[0].role": "system",
    },
  },
  {
    name: "the vendor's own spelling, single entries and a plain system prompt",
    body: {
      contents: { parts: { text: "hi" } },
      system_instruction: "Be brief.",
      tools: {
        function_declarations: {
          name: "f",
          parameters_json_schema: JSON_SCHEMA,
        },
      },
      tool_config: {
        function_calling_config: { mode: "any", allowed_function_names: ["f"] },
      },
      generation_config: {
        response_mime_type: "application/json",
        max_output_tokens: 9,
      },
    },
    arrives: {
      "messages[0].content": "Be brief.",
      "messages[1].content": "hi",
      "tools[0].function.parameters": JSON_SCHEMA,
      "tool_choice.function.name": "f",
      response_format: { type: "json_object" },
      max_tokens: 9,
    },
  },
  {
    name: "a schema in the vendor's subset",
    body: {
      tools: [{
        functionDeclarations: [{
          name: "f",
          description: "d",
          parameters: SCHEMA,
        }],
      }],
      generationConfig: {
        responseMimeType: "application/json",
        responseSchema: SCHEMA,
      },
    },
    arrives: {
      "tools[0].function": {
        name: "f",
        description: "d",
        parameters: JSON_SCHEMA,
      },
      "response_format.json_schema.schema": JSON_SCHEMA,
    },
  },
  {
    name: "a JSON Schema",
    body: config({
      responseMimeType: "application/json",
      responseJsonSchema: JSON_SCHEMA,
    }),
    arrives: {
      "response_format.json_schema.schema": JSON_SCHEMA,
      "response_format.json_schema.strict": false,
    },
  },
  {
    name: "AUTO",
    body: calling({ mode: "AUTO" }),
    arrives: { tool_choice: "auto" },
  },
  {
    name: "ANY",
    body: calling({ mode: "ANY" }),
    arrives: { tool_choice: "required" },
  },
  {
    name: "NONE",
    body: calling({ mode: "NONE" }),
    arrives: { tool_choice: "none" },
  },
  {
    name: "VALIDATED binds every call to its schema",
    body: calling({ mode: "VALIDATED" }),
    arrives: {
      tool_choice: "auto",
      "tools[0].function.strict": true,
      "tools[1].function.strict": true,
    },
  },
  {
    name:
      "pictures, files and sounds; base64 of addresses becomes the usual one",
    body: user(
      { inlineData: { mimeType: "image/png", data: "-_8" } },
      { fileData: { mimeType: "image/png", fileUri: "https://x.test/a" } },
      {
        inlineData: {
          mimeType: "application/pdf",
          data: PDF,
          displayName: "a.pdf",
        },
      },
      { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
      { inlineData: { mimeType: "text/plain", data: btoa("words") } },
    ),
    arrives: {
      "messages[0].content[0].image_url.url": "data:image/png;base64,+/8=",
      "messages[0].content[1].image_url.url": "https://x.test/a",
      "messages[0].content[2].file.filename": "a.pdf",
      "messages[0].content[3].input_audio": { data: "AAAA", format: "wav" },
      "messages[0].content[4].text": "words",
    },
  },
  {
    name: "calls and results without ids pair by name, in order",
    body: contentsOf(
      HI,
      contentBy(
        "model",
        {
          functionCall: { name: "f", args: { n: 1 } },
          thoughtSignature: "c2ln",
        },
        functionCall("f", { n: 2 }),
        functionCall("g"),
      ),
      contentBy(
        "function",
        functionResponse("g", { error: "no" }),
        functionResponse("f", { output: "one" }),
        functionResponse("f", { a: 1 }),
      ),
    ),
    arrives: {
      "messages[1].tool_calls[0].id": "call_1_0",
      "messages[1].tool_calls[0].function.arguments": '{"n":1}',
      "messages[1].tool_calls[2].function.arguments": "{}",
      "messages[2].tool_call_id": "call_1_2",
      "messages[3].tool_call_id": "call_1_0",
      "messages[3].content": "one",
      "messages[4].tool_call_id": "call_1_1",
      "messages[4].content": '{"a":1}',
    },
    arrivesWithout: ["c2ln"],
  },
  {
    name: "ids of calls and results",
    body: contentsOf(
      HI,
      contentBy("model", { functionCall: { id: "a", name: "f" } }, {
        functionCall: { id: "b", name: "f" },
      }),
      contentBy(
        "user",
        functionResponse("f", { output: "two" }, "b"),
        functionResponse("f", { output: "one" }, "a"),
      ),
    ),
    arrives: {
      "messages[1].tool_calls[0].id": "a",
      "messages[1].tool_calls[1].id": "b",
    },
    arrivesContaining: [
      '"tool_call_id":"a","content":"one"',
      '"tool_call_id":"b","content":"two"',
    ],
  },
  {
    name: "pieces of a streamed text become one text",
    body: contentsOf(
      HI,
      contentBy("model", { text: "Hel" }),
      contentBy("model", { text: "lo" }),
      contentBy("model", { text: "" }),
      HI,
    ),
    arrives: { "messages[1].content": "Hello", "messages[2].content": "hi" },
  },
];

Deno.test("a chat upstream receives", (t) =>
  checkRows(t, table("chat_completions"), TO_CHAT));

const REASONER = { reasoning: "budget" } as const;
const TAGGED = btoa("gw1:messages:sig-1");

const TO_MESSAGES: readonly RequestRow[] = [
  {
    name:
      "thoughts with the gateway's signature go back to the format that signed them",
    body: contentsOf(
      HI,
      contentBy("model", { text: "I ", thought: true }),
      contentBy("model", { text: "think", thought: true }),
      contentBy("model", { text: "", thought: true, thoughtSignature: TAGGED }),
      contentBy("model", { functionCall: { id: "c", name: "f" } }),
      contentBy("user", {
        functionResponse: {
          id: "c",
          name: "f",
          response: { output: "1" },
          parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
        },
      }),
    ),
    arrives: {
      "messages[1].content[0]": {
        type: "thinking",
        thinking: "I think",
        signature: "sig-1",
      },
      "messages[1].content[1].type": "tool_use",
      "messages[2].content[0].content[0].text": "1",
      "messages[2].content[0].content[1].source.data": PNG,
    },
  },
  {
    name: "hidden thoughts",
    body: contentsOf(
      HI,
      contentBy("model", {
        text: "",
        thought: true,
        thoughtSignature: btoa("gw1:messages-redacted:data"),
      }, { text: "x" }),
      HI,
    ),
    arrives: {
      "messages[1].content[0]": { type: "redacted_thinking", data: "data" },
    },
  },
  {
    name: "a budget",
    body: config({
      maxOutputTokens: 9000,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
    }),
    arrives: {
      thinking: { type: "enabled", budget_tokens: 2000, display: "summarized" },
      max_tokens: 9000,
    },
  },
  {
    name: "a level, without the thoughts",
    body: config({
      maxOutputTokens: 20000,
      thinkingConfig: { thinkingLevel: "low" },
    }),
    arrives: { "thinking.display": "omitted", "thinking.budget_tokens": 2048 },
  },
  {
    name: "who only hides thoughts asks for none",
    body: config({ thinkingConfig: { includeThoughts: false } }),
    arrives: { thinking: undefined, max_tokens: 8192 },
  },
  {
    name: "no reasoning",
    body: config({ thinkingConfig: { thinkingBudget: 0 } }),
    arrives: { thinking: { type: "disabled" } },
  },
  {
    name: "a failed call",
    body: contentsOf(
      HI,
      contentBy("model", functionCall("f")),
      contentBy("user", functionResponse("f", { error: "no" })),
    ),
    arrives: {
      "messages[2].content[0].is_error": true,
      "messages[2].content[0].content[0].text": "no",
    },
  },
  {
    name: "the standard tier",
    body: { serviceTier: "STANDARD" },
    arrives: { service_tier: "standard_only" },
  },
  {
    name: "another tier",
    body: { serviceTier: "FLEX" },
    dropped: ["serviceTier"],
  },
];

Deno.test("a messages upstream receives", (t) =>
  checkRows(t, table("messages", { m: REASONER }), TO_MESSAGES));

Deno.test("an upstream of the same format receives the client's bytes", (t) =>
  checkRows(t, table("generate_content"), [
    {
      name: "unknown fields and signatures stay",
      body: {
        contents: [
          contentBy("user", { text: "x", thoughtSignature: "c2ln", later: 1 }),
        ],
        new_field: 1,
      },
      arrives: {
        "contents[0].parts[0].later": 1,
        new_field: 1,
        "contents[0].parts[0].thoughtSignature": "c2ln",
      },
    },
    {
      name: "other formats' thoughts and signatures are removed",
      body: contentsOf(
        HI,
        contentBy("model", {
          text: "t",
          thought: true,
          thoughtSignature: TAGGED,
        }, { functionCall: { name: "f" }, thoughtSignature: TAGGED }),
      ),
      arrives: {
        "contents[1].parts": [{
          functionCall: { name: "f" },
          thoughtSignature: "skip_thought_signature_validator",
        }],
      },
    },
  ]));
