import type { JsonObject } from "../../../../translate/bytes/json.ts";
import { SCHEMA } from "./schema.ts";

const PROOF = btoa("gw1:messages:s");

/** Requests with every part and every field, in both spellings. */
export const CONTENT_REQUESTS: readonly JsonObject[] = [
  {
    contents: [
      {
        role: "user",
        parts: [
          { text: "Hi" },
          { inlineData: { mimeType: "image/png", data: "AAAA" } },
          {
            inlineData: {
              mimeType: "application/pdf",
              data: "AA-_",
              displayName: "a.pdf",
            },
          },
          { inlineData: { mimeType: "audio/wav", data: "AAAA" } },
          { inlineData: { mimeType: "text/plain", data: "YQ" } },
          {
            fileData: {
              mimeType: "image/png",
              fileUri: "https://127.0.0.1/a.png",
            },
          },
          { fileData: { fileUri: "https://127.0.0.1/a.pdf" } },
        ],
      },
      {
        role: "model",
        parts: [
          { text: "t", thought: true, thoughtSignature: PROOF },
          { text: "So." },
          {
            functionCall: { id: "c1", name: "f", args: { x: 1 } },
            thoughtSignature: "c2ln",
          },
          { functionCall: { name: "f" }, thoughtSignature: PROOF },
        ],
      },
      {
        role: "user",
        parts: [
          {
            functionResponse: {
              id: "c1",
              name: "f",
              response: { output: "1" },
              parts: [{ inlineData: { mimeType: "image/png", data: "AAAA" } }],
            },
          },
          { functionResponse: { name: "f", response: { error: "no" } } },
        ],
      },
    ],
    systemInstruction: { parts: [{ text: "Be brief." }] },
    tools: [
      {
        functionDeclarations: [
          { name: "f", description: "d", parametersJsonSchema: SCHEMA },
          {
            name: "g",
            parameters: {
              type: "OBJECT",
              properties: { x: { type: "STRING", nullable: true } },
            },
          },
        ],
      },
      { googleSearch: {} },
    ],
    toolConfig: {
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] },
      retrievalConfig: { languageCode: "en" },
    },
    generationConfig: {
      candidateCount: 1,
      stopSequences: ["END"],
      maxOutputTokens: 50,
      temperature: 0.5,
      topP: 0.5,
      topK: 4,
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.1,
      responseLogprobs: true,
      logprobs: 2,
      responseModalities: ["TEXT"],
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
    },
    safetySettings: [{ category: "c", threshold: "t" }],
    serviceTier: "STANDARD",
  },
  {
    contents: { parts: { text: "Hi" } },
    system_instruction: "Be brief.",
    tools: { function_declarations: { name: "f" } },
    tool_config: { function_calling_config: { mode: "VALIDATED" } },
    generation_config: {
      max_output_tokens: 50,
      response_mime_type: "application/json",
      response_schema: {
        type: "OBJECT",
        properties: { a: { type: "NUMBER" } },
      },
      thinking_config: { thinking_level: "low" },
    },
    cached_content: "",
    labels: { a: "b" },
  },
  {
    contents: [
      { parts: [{ text: "Hi" }] },
      {
        role: "model",
        parts: [
          { executableCode: { language: "PYTHON", code: "1" } },
          { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
        ],
      },
      { role: "function", parts: [{ text: "x", videoMetadata: {} }] },
    ],
    generationConfig: {
      responseMimeType: "application/json",
      responseJsonSchema: SCHEMA,
    },
  },
];
