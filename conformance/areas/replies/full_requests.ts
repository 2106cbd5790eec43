/** Requests with nearly all fields that each format's vendor documents, after a tool call. */
import type { Json, JsonObject } from "@model-gateway/replay/json";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    a: { type: "integer", minimum: 0 },
    b: { type: ["string", "null"], enum: ["x", null] },
    c: { type: "array", items: { type: "string", description: "One." } },
  },
  required: ["a"],
  additionalProperties: false,
};
const TUNING: JsonObject = { temperature: 0.5, seed: 11 };
const STOPS: Json = ["END", "STOP"];
const FACTS: JsonObject = {
  type: "document",
  source: { type: "text", media_type: "text/plain", data: "Facts." },
  title: "Facts",
  context: "All.",
  citations: { enabled: true },
};
const CACHED: JsonObject = { cache_control: { type: "ephemeral" } };
const IMAGE: JsonObject = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
};

function messages(prompt: string): JsonObject {
  return {
    max_tokens: 2000,
    system: [{
      type: "text",
      text: "Be brief.",
      cache_control: { type: "ephemeral", ttl: "1h" },
    }, { type: "text", text: "Be kind." }],
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "Add.", ...CACHED },
        IMAGE,
        {
          type: "image",
          source: { type: "url", url: "https://example.com/a.png" },
        },
        FACTS,
      ],
    }, {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Add.", signature: "ErxOne" },
        { type: "redacted_thinking", data: "ZW5j" },
        { type: "text", text: "I add." },
        {
          type: "tool_use",
          id: "toolu_1",
          name: "add",
          input: { a: 1 },
          caller: { type: "direct" },
        },
      ],
    }, {
      role: "user",
      content: [{
        type: "tool_result",
        tool_use_id: "toolu_1",
        is_error: true,
        content: [{ type: "text", text: "2" }, IMAGE],
        ...CACHED,
      }, { type: "text", text: prompt }],
    }],
    tools: [{
      name: "add",
      description: "Adds.",
      input_schema: SCHEMA,
      strict: true,
      input_examples: [{ a: 1 }],
      ...CACHED,
    }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    // The newest models take this kind alone.
    thinking: { type: "adaptive", display: "summarized" },
    top_p: 0.95,
    metadata: { user_id: "u-1" },
    stop_sequences: STOPS,
    service_tier: "standard_only",
    context_management: { edits: [{ type: "clear_tool_uses_20250919" }] },
    output_config: {
      effort: "low",
      format: { type: "json_schema", schema: SCHEMA },
    },
  };
}

function chat(prompt: string): JsonObject {
  const image = { url: `data:image/png;base64,${PNG}`, detail: "low" };
  const file = {
    filename: "a.pdf",
    file_data: "data:application/pdf;base64,JVBERi0=",
  };
  return {
    // Without `max_tokens`, which vendors refuse beside the other.
    max_tokens: undefined,
    max_completion_tokens: 64,
    messages: [
      { role: "system", content: "Be brief.", name: "rules" },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "Add." },
          { type: "image_url", image_url: image },
          { type: "file", file },
        ],
      },
      {
        role: "assistant",
        content: "I add.",
        tool_calls: [{
          id: "call_1",
          type: "function",
          function: { name: "add", arguments: '{"a":1}' },
        }],
      },
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "user", content: prompt },
    ],
    tools: [{
      type: "function",
      function: {
        name: "add",
        description: "Adds.",
        parameters: SCHEMA,
        strict: true,
      },
    }],
    tool_choice: { type: "function", function: { name: "add" } },
    parallel_tool_calls: false,
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "sum",
        description: "A sum",
        schema: SCHEMA,
        strict: true,
      },
    },
    ...TUNING,
    top_p: 0.9,
    stop: STOPS,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { "50256": -1 },
    presence_penalty: 0.25,
    frequency_penalty: 0.5,
    user: "u-1",
    safety_identifier: "s-1",
    prompt_cache_key: "k-1",
    prompt_cache_retention: "24h",
    metadata: { team: "a" },
    store: false,
    modalities: ["text"],
    prediction: { type: "content", content: "2" },
    verbosity: "low",
    service_tier: "default",
  };
}

function generateContent(prompt: string): JsonObject {
  return {
    contents: [{
      role: "user",
      parts: [
        { text: "Add." },
        { inlineData: { mimeType: "image/png", data: PNG } },
        {
          fileData: {
            mimeType: "video/mp4",
            fileUri: "https://example.com/a.mp4",
          },
          videoMetadata: { startOffset: "1s", endOffset: "2s", fps: 1 },
        },
      ],
    }, {
      role: "model",
      parts: [
        { text: "To add.", thought: true },
        { text: "I add.", thoughtSignature: "c2lnbjE=" },
        {
          functionCall: { id: "f1", name: "add", args: { a: 1 } },
          thoughtSignature: "c2lnbjI=",
        },
      ],
    }, {
      role: "user",
      parts: [{
        functionResponse: {
          id: "f1",
          name: "add",
          response: { result: 2, error: "none" },
          parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
        },
      }],
    }, {
      role: "model",
      parts: [
        { executableCode: { language: "PYTHON", code: "1+1" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } },
      ],
    }, { role: "user", parts: [{ text: prompt }] }],
    systemInstruction: { parts: [{ text: "Be brief." }, { text: "Be kind." }] },
    tools: [{
      functionDeclarations: [{
        name: "add",
        description: "Adds.",
        parametersJsonSchema: SCHEMA,
        responseJsonSchema: { type: "object" },
        behavior: "BLOCKING",
      }, {
        name: "sum",
        description: "Sums.",
        parameters: {
          type: "OBJECT",
          properties: {
            a: { type: "INTEGER", description: "The first." },
            b: { type: "ARRAY", items: { type: "STRING", enum: ["x"] } },
          },
          required: ["a"],
        },
      }],
    }],
    toolConfig: {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["add"] },
      retrievalConfig: { languageCode: "de" },
    },
    safetySettings: [{
      category: "HARM_CATEGORY_HARASSMENT",
      threshold: "BLOCK_NONE",
    }],
    labels: { team: "a" },
    generationConfig: {
      ...TUNING,
      topP: 0.9,
      topK: 7,
      candidateCount: 1,
      maxOutputTokens: 64,
      stopSequences: STOPS,
      presencePenalty: 0.25,
      frequencyPenalty: 0.5,
      responseLogprobs: true,
      logprobs: 2,
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
      responseModalities: ["TEXT"],
      mediaResolution: "MEDIA_RESOLUTION_LOW",
      thinkingConfig: { includeThoughts: true, thinkingBudget: 128 },
    },
  };
}

function responses(prompt: string): JsonObject {
  return {
    instructions: "Be brief.",
    input: [
      {
        type: "message",
        role: "developer",
        content: [{ type: "input_text", text: "Be kind." }],
      },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Add." },
          {
            type: "input_image",
            image_url: `data:image/png;base64,${PNG}`,
            detail: "low",
          },
          {
            type: "input_file",
            filename: "a.pdf",
            file_data: "data:application/pdf;base64,JVBERi0=",
          },
        ],
      },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "Add." }],
        encrypted_content: "ZW5j",
      },
      {
        type: "message",
        id: "msg_1",
        status: "completed",
        role: "assistant",
        content: [{
          type: "output_text",
          text: "I add.",
          annotations: [],
          logprobs: [],
        }],
      },
      {
        type: "function_call",
        id: "fc_1",
        status: "completed",
        call_id: "call_1",
        name: "add",
        arguments: '{"a":1}',
      },
      {
        type: "function_call_output",
        id: "fco_1",
        status: "completed",
        call_id: "call_1",
        output: [
          { type: "input_text", text: "2" },
          {
            type: "input_image",
            image_url: `data:image/png;base64,${PNG}`,
            detail: "low",
          },
        ],
      },
      {
        type: "custom_tool_call",
        id: "ctc_1",
        call_id: "call_2",
        name: "patch",
        input: "abc",
      },
      { type: "custom_tool_call_output", call_id: "call_2", output: "Done." },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: prompt }],
      },
    ],
    tools: [
      {
        type: "function",
        name: "add",
        description: "Adds.",
        parameters: SCHEMA,
        strict: true,
      },
      {
        type: "custom",
        name: "patch",
        description: "Patches.",
        format: {
          type: "grammar",
          syntax: "regex",
          definition: "[a-z]+",
        },
      },
    ],
    tool_choice: "auto",
    parallel_tool_calls: false,
    text: {
      format: {
        type: "json_schema",
        name: "sum",
        description: "A sum",
        schema: SCHEMA,
        strict: true,
      },
      verbosity: "low",
    },
    reasoning: { effort: "low", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    max_output_tokens: 64,
    max_tool_calls: 3,
    metadata: { team: "a" },
    safety_identifier: "s-1",
    prompt_cache_key: "k-1",
    service_tier: "default",
    truncation: "auto",
    store: false,
  };
}

/** The request of each format; the prompt is its last text. */
export const FULL_REQUESTS = {
  messages,
  chat,
  generateContent,
  responses,
} as const;
