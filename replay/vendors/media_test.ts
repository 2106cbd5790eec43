import assert from "node:assert/strict";
import { answer } from "../answer.ts";
import type { Script } from "../script.ts";

function ask(path: string, body: unknown): Script {
  return answer({
    method: "POST",
    path,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function transcribe(fields: Readonly<Record<string, string>>): Script {
  const parts = Object.entries(fields).map(([name, value]) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  );
  return answer({
    method: "POST",
    path: "/v1/audio/transcriptions",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: `${
      parts.join("")
    }--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n`,
  });
}

Deno.test("the same request has the same reply; another text has another", () => {
  const speech = (input: string) =>
    ask("/v1/audio/speech", { model: "m", input });
  assert.deepEqual(speech("one"), speech("one"));
  assert.notDeepEqual(speech("one"), speech("two"));
  const rerank = (query: string) =>
    ask("/v1/rerank", { model: "m", query, documents: ["a", "b"] });
  assert.deepEqual(rerank("q"), rerank("q"));
  assert.notDeepEqual(rerank("q"), rerank("r"));
});

Deno.test("a transcription has the form that was asked for", () => {
  const type = (fields: Readonly<Record<string, string>>) =>
    transcribe({ model: "m", ...fields }).headers["content-type"];
  assert.equal(type({}), "application/json");
  assert.match(type({ response_format: "text" }) ?? "", /^text\/plain/);
  assert.match(type({ stream: "true" }) ?? "", /^text\/event-stream/);
});

Deno.test("what a vendor refuses is refused", () => {
  const refused = [
    ask("/v1/audio/speech", { model: "m" }),
    ask("/v1/audio/speech", { input: "text" }),
    ask("/v1/audio/transcriptions", { model: "m" }),
    ask("/v1/images/generations", { model: "m", prompt: "p", n: 11 }),
    ask("/v1/images/generations", { model: "m" }),
    ask("/v1/rerank", { model: "m", query: "q", documents: [] }),
    ask("/v1/moderations", { model: "m", input: [] }),
    transcribe({}),
  ];
  assert.deepEqual(refused.map(({ status }) => status), refused.map(() => 400));
  assert.equal(
    ask("/v1/rerank", {
      model: "m",
      query: "[[fx:status?code=503]]",
      documents: ["a"],
    }).status,
    503,
  );
});
