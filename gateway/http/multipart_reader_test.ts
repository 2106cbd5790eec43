import assert from "node:assert/strict";
import { ApiError } from "../../translate/model/error.ts";
import { boundaryOf, MODEL, MultipartReader } from "./multipart_reader.ts";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

function part(name: string, value: string, more = ""): string {
  return `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
}

const FILE = part(
  "file",
  "sound\r\n--a\r\n\r\n-- b",
  '; filename="a.wav"\r\nContent-Type: audio/wav',
);
const AFTER = `${FILE}${part("n", "3")}${part("model", "mine")}--b--\r\n`;
const BEFORE = `${part("model", "mine")}${part("n", "3")}${FILE}--b--`;

/** What passes of a body in chunks of so many bytes, with the model's name in place of its mark. */
function passed(body: string, chunk: number): {
  readonly text: string;
  readonly reader: MultipartReader;
} {
  const reader = new MultipartReader("b");
  const bytes = ENCODER.encode(body);
  let text = "";
  for (let at = 0; at < bytes.length; at += chunk) {
    for (const piece of reader.push(bytes.subarray(at, at + chunk))) {
      text += piece === MODEL ? "theirs" : DECODER.decode(piece);
    }
  }
  reader.end();
  return { text, reader };
}

for (const [name, body] of Object.entries({ AFTER, BEFORE })) {
  Deno.test(`the model is replaced and nothing else: ${name}, cut anywhere`, () => {
    for (let chunk = 1; chunk <= body.length; chunk++) {
      const { text, reader } = passed(body, chunk);
      assert.equal(text, body.replace("mine", "theirs"));
      assert.equal(reader.model, "mine");
      assert.equal(reader.text("n"), "3");
      assert.throws(() => reader.text("file"), /must be a text/);
      assert.equal(reader.text("x"), undefined);
    }
  });
}

Deno.test("the model is known before the file has arrived", () => {
  const reader = new MultipartReader("b");
  reader.push(ENCODER.encode(BEFORE.slice(0, BEFORE.indexOf("sound"))));
  assert.equal(reader.model, "mine");
});

const MODEL_PART = part("model", "mine");
const REFUSED: Readonly<Record<string, string>> = {
  "two models": `${MODEL_PART}${part("model", "other")}--b--`,
  "a model as a file": `${part("model", "mine", '; filename="m"')}--b--`,
  "no model": `${FILE}--b--`,
  "an empty model": `${part("model", "")}--b--`,
  "a long model": `${part("model", "m".repeat(2_000))}--b--`,
  "another spelling": `${MODEL_PART}${part("Model", "other")}--b--`,
  "brackets": `${MODEL_PART}${part("model[]", "other")}--b--`,
  "an encoded name": `${MODEL_PART}${part("mod%65l", "other")}--b--`,
  "an escaped name": `${MODEL_PART}${part("mo\\del", "other")}--b--`,
  "a second name": `${part("x", "mine", '; name="model"')}--b--`,
  "a name in a file's name": `${MODEL_PART}${
    part("file", "x", '; filename="a; name=model"')
  }--b--`,
  "an extended name": `${MODEL_PART}${
    part("x", "other", "; name*=UTF-8''model")
  }--b--`,
  "two dispositions": `${MODEL_PART}${
    part("x", "other", '\r\nContent-Disposition: form-data; name="model"')
  }--b--`,
  "a folded header": `${MODEL_PART}${
    part("x", "other", "\r\n name=model")
  }--b--`,
  "a lone line feed": `${MODEL_PART}${part("x", "o", "\nX: y")}--b--`,
  "an encoding": `${MODEL_PART}${
    part("x", "bW9kZWw=", "\r\nContent-Transfer-Encoding: base64")
  }--b--`,
  "a boundary inside a part": `${MODEL_PART}${part("file", "x\n--b\r\n")}--b--`,
  "a boundary with a tail": `${MODEL_PART}--b \r\n\r\n--b--`,
  "text before": `x\r\n${MODEL_PART}--b--`,
  "text behind": `${MODEL_PART}--b--\r\nx: y`,
  "no end": MODEL_PART,
  "long headers": `${MODEL_PART}${
    part("x", "y", `\r\nX: ${"y".repeat(9_000)}`)
  }--b--`,
  "many parts": `${MODEL_PART}${part("x", "y").repeat(1_001)}--b--`,
};

for (const [name, body] of Object.entries(REFUSED)) {
  Deno.test(`a body is refused for ${name}`, () => {
    for (const chunk of [1, 7, body.length]) {
      assert.throws(
        () => passed(body, chunk),
        (error) => error instanceof ApiError && error.status === 400,
      );
    }
  });
}

Deno.test("a field that decides something is read once, and not without end", () => {
  const { reader } = passed(
    `${MODEL_PART}${part("n", "1").repeat(2)}${
      part("long", "x".repeat(1_100_000))
    }--b--`,
    65_536,
  );
  assert.throws(() => reader.text("n"), /appears more than once/);
  assert.throws(() => reader.text("long"), /longer than 1048576 bytes/);
});

Deno.test("boundaryOf() reads quoted and plain boundaries", () => {
  const of = (tail: string) => boundaryOf(`multipart/form-data${tail}`);
  assert.equal(of("; boundary=----a-b"), "----a-b");
  assert.equal(of('; charset=utf-8; boundary="ab=c"'), "ab=c");
  for (
    const tail of [
      "",
      "; boundary=",
      "; boundary=a; boundary=b",
      "; boundary=é",
    ]
  ) {
    assert.throws(() => of(tail), ApiError);
  }
});
