/**
 * What a program does with `@google/genai`, as JSON on standard output. It runs in a process of its
 * own: among the packages that the library needs are types of Node that would replace Deno's.
 *
 * Arguments: the library's specifier, the gateway's address, a key, a model.
 */
const [library, baseUrl, apiKey, model] = Deno.args;
const { GoogleGenAI, FunctionCallingConfigMode } = await import(library);
const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl } });
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
};
const WEATHER = {
  functionDeclarations: [{
    name: "get_weather",
    description: "The weather of a city",
    parametersJsonSchema: SCHEMA,
  }],
};
const results = {};

const whole = await client.models.generateContent({
  model,
  contents: "[[fx:text]]",
  config: { systemInstruction: "Be brief.", maxOutputTokens: 200 },
});
results.text = whole.text;
results.finish = whole.candidates[0].finishReason;
results.usage = whole.usageMetadata;
results.version = whole.modelVersion;

const pieces = [];
const stream = await client.models.generateContentStream({
  model,
  contents: "[[fx:text]]",
});
for await (const chunk of stream) pieces.push(chunk.text ?? "");
results.streamed = pieces.join("");

const chat = client.chats.create({ model, config: { tools: [WEATHER] } });
const turn = await chat.sendMessageStream({ message: "[[fx:tool]]" });
results.calls = [];
for await (const chunk of turn) {
  results.calls.push(...chunk.functionCalls ?? []);
}
const answer = await chat.sendMessage({
  message: results.calls.map(({ id, name }) => ({
    functionResponse: {
      id,
      name,
      response: { output: "Sunny. [[fx:text]]" },
    },
  })),
});
results.answer = answer.text;
results.turns = chat.getHistory(true).map(({ role }) => role);

const forced = await client.models.generateContent({
  model,
  contents: "Weather?",
  config: {
    tools: [WEATHER],
    toolConfig: {
      functionCallingConfig: {
        mode: FunctionCallingConfigMode.ANY,
        allowedFunctionNames: ["get_weather"],
      },
    },
  },
});
results.forced = forced.functionCalls.map(({ name, args }) => ({
  name,
  keys: Object.keys(args),
}));

const structured = await client.models.generateContent({
  model,
  contents: "Weather?",
  config: {
    responseMimeType: "application/json",
    responseJsonSchema: SCHEMA,
  },
});
results.structured = JSON.parse(structured.text);

const seen = await client.models.generateContent({
  model,
  contents: [
    "[[fx:text]]",
    { inlineData: { mimeType: "image/png", data: PNG } },
  ],
});
results.seen = seen.text;

const thought = await client.models.generateContent({
  model,
  contents: "[[fx:thinking]]",
  config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } },
});
results.thoughts = thought.candidates[0].content.parts
  .filter((part) => part.thought === true).map((part) => part.text).join("");
results.afterThoughts = thought.text;

const count = await client.models.countTokens({
  model,
  contents: "Hello there",
});
results.count = count.totalTokens;

results.models = [];
const list = await client.models.list({ config: { pageSize: 4 } });
for await (const entry of list) results.models.push(entry.name);
results.model = (await client.models.get({ model })).name;

for (
  const [name, params] of [
    ["unknown", { model: "acme-1", contents: "x" }],
    ["invalid", { model, contents: "x", config: { topP: 7 } }],
  ]
) {
  try {
    await client.models.generateContent(params);
  } catch (error) {
    const { error: given } = JSON.parse(error.message);
    results[name] = [error.name, error.status, given.status];
  }
}
await Deno.stdout.write(
  new TextEncoder().encode(JSON.stringify(results)),
);
