/**
 * Absurd numbers and quantities in bodies: each body gets a 4xx in the client's format or is
 * served, and the next request succeeds.
 */
import {
  type BodyRow as Row,
  MODELS,
  requestText,
  runBodies as run,
} from "../support/tables/hostile_bodies.ts";

Deno.test("absurd numbers", (t) =>
  run(
    t,
    MODELS.flatMap((model) =>
      [
        "1e308",
        "1e999",
        "-1e999",
        "-1",
        "-0",
        "0",
        "1.5",
        "9007199254740992",
        "9007199254740993",
        "123456789012345678901234567890",
        "1e-400",
      ].flatMap((value) =>
        [
          "max_tokens",
          "max_completion_tokens",
          "temperature",
          "top_p",
          "top_k",
          "n",
          "seed",
          "logprobs",
          "thinking",
        ].map((field): Row => ({
          name: `${field} ${value} to ${model}`,
          body: `{"model":"${model}"${
            field === "max_tokens" ? "" : ',"max_tokens":9'
          },"messages":[{"role":"user","content":"Hi"}],"${field}":${
            field === "thinking"
              ? `{"type":"enabled","budget_tokens":${value}}`
              : value
          }}`,
        }))
      )
    ),
  ));

Deno.test("very many or very long values", (t) =>
  run(
    t,
    MODELS.flatMap((model): readonly Row[] => [
      {
        name: `100,000 messages to ${model}`,
        body: JSON.stringify({
          model,
          max_tokens: 9,
          messages: Array.from(
            { length: 100_000 },
            (_, i) => ({
              role: i % 2 === 0 ? "user" : "assistant",
              content: "a",
            }),
          ),
        }),
      },
      {
        name: `5,000 tools to ${model}`,
        body: requestText(
          model,
          `,"tools":${
            JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({
              name: `f${i}`,
              input_schema: { type: "object", properties: {} },
            })))
          }`,
        ),
      },
      {
        name: `5,000 functions to ${model}`,
        body: requestText(
          model,
          `,"tools":${
            JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({
              type: "function",
              function: { name: `f${i}`, parameters: {} },
            })))
          }`,
        ),
      },
      {
        name: `5,000 tools with the same name to ${model}`,
        body: requestText(
          model,
          `,"tools":${
            JSON.stringify(Array.from({ length: 5_000 }, () => ({
              name: "f",
              type: "function",
              input_schema: { type: "object" },
              function: { name: "f" },
            })))
          }`,
        ),
      },
      {
        name: `50,000 blocks to ${model}`,
        body: JSON.stringify({
          model,
          max_tokens: 9,
          messages: [{
            role: "user",
            content: Array.from(
              { length: 50_000 },
              () => ({ type: "text", text: "a" }),
            ),
          }],
        }),
      },
      {
        name: `50,000 unknown fields to ${model}`,
        body: requestText(
          model,
          Array.from({ length: 50_000 }, (_, i) => `,"x${i}":1`).join(""),
        ),
      },
      {
        name: `50,000 stop words to ${model}`,
        body: requestText(
          model,
          `,"stop":${JSON.stringify(Array(50_000).fill("a"))}`,
        ),
      },
      {
        name: `1 MiB as a tool's name, to ${model}`,
        body: requestText(
          model,
          `,"tools":[{"name":"${
            "a".repeat(1024 * 1024)
          }","input_schema":{"type":"object"}}]`,
        ),
      },
      {
        name: `1 MiB as a field's name, to ${model}`,
        body: requestText(model, `,"${"\u00fc".repeat(500_000)}":1`),
      },
      {
        name: `1 MiB as a role, to ${model}`,
        body: requestText(model).replace("user", "a".repeat(1024 * 1024)),
        status: 400,
      },
      {
        name: `1 MiB as an image's URL, to ${model}`,
        body: requestText(model).replace(
          '"Hi"',
          `[{"type":"image_url","image_url":{"url":"data:image/png;base64,${
            "A".repeat(1024 * 1024)
          }!"}},{"type":"image","source":{"type":"url","url":"http://${
            "a.".repeat(500_000)
          }"}}]`,
        ),
      },
    ]).concat([
      {
        name: "1 MiB as a model",
        body: requestText("a".repeat(1024 * 1024)),
        status: 404,
      },
    ]),
  ));
