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
/** Bodies of a model and these parts. */
function beside(parts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parts).map((
      [name, text],
    ) => [name, `${MODEL_PART}${text}--b--`]),
  );
}

const REFUSED: Readonly<Record<string, string>> = {
  "a model as a file": `${part("model", "mine", '; filename="m"')}--b--`,
  "no model": `${FILE}--b--`,
  "an empty model": `${part("model", "")}--b--`,
  "a long model": `${part("model", "m".repeat(2_000))}--b--`,
  "a second name": `${part("x", "mine", '; name="model"')}--b--`,
  "a boundary with a tail": `${MODEL_PART}--b \r\n\r\n--b--`,
  "text before": `x\r\n${MODEL_PART}--b--`,
  "text behind": `${MODEL_PART}--b--\r\nx: y`,
  "no end": MODEL_PART,
  ...beside({
    "two models": part("model", "other"),
    "another spelling": part("Model", "other"),
    ...Object.fromEntries(
      [
        "model[]",
        "model[0]",
        "model[a][b]",
        "MODEL[0]",
        " model[",
        "[model]",
        "model.0",
        "model .x",
        "mo-del",
      ].map((name) => [`a name as ${name}`, part(name, "other")]),
    ),
    "an encoded name": part("mod%65l", "other"),
    "an escaped name": part("mo\\del", "other"),
    "a name in a file's name": part("file", "x", '; filename="a; name=model"'),
    "an extended name": part("x", "other", "; name*=UTF-8''model"),
    "two dispositions": part(
      "x",
      "other",
      '\r\nContent-Disposition: form-data; name="model"',
    ),
    "a folded header": part("x", "other", "\r\n name=model"),
    "a lone line feed": part("x", "o", "\nX: y"),
    "an encoding": part("x", "bW", "\r\nContent-Transfer-Encoding: base64"),
    "a boundary inside a part": part("file", "x\n--b\r\n"),
    "long headers": part("x", "y", `\r\nX: ${"y".repeat(9_000)}`),
    "many parts": part("x", "y").repeat(1_001),
  }),
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
  const parts = part("n", "1").repeat(2) + part("long", "x".repeat(1_100_000));
  const { reader } = passed(`${MODEL_PART}${parts}--b--`, 65_536);
  assert.throws(() => reader.text("n"), /appears more than once/);
  assert.throws(() => reader.text("long"), /longer than 1048576 bytes/);
});

Deno.test("a part that some readers take for another of a field is refused with it", () => {
  for (const name of ["n[]", "n[0]", "n[a]", "n.x", "N", "[n]"]) {
    const { reader } = passed(`${MODEL_PART}${part(name, "9")}--b--`, 65_536);
    assert.throws(() => reader.text("n"), /must be spelled n/, name);
  }
  const others = ["models[]", "modelled", "x[model]", "a.model", "nn[0]"];
  const parts = others.map((name) => part(name, "9")).join("");
  const { reader } = passed(`${MODEL_PART}${parts}--b--`, 65_536);
  assert.equal(reader.text("n"), undefined);
});

Deno.test("a name of invalid UTF-8 is refused, which readers replace or drop", () => {
  const bytes = ENCODER.encode(`${MODEL_PART}${part("mode?l", "x")}--b--`);
  bytes[bytes.lastIndexOf(0x3f)] = 0xff;
  const reader = new MultipartReader("b");
  assert.throws(() => reader.push(bytes), /one plain name/);
});

Deno.test("a header of nothing but spaces takes no longer than its bytes", () => {
  // Where it takes as long as the square of them, this takes minutes.
  const space = " ".repeat(300_000);
  assert.equal(boundaryOf(`multipart/form-data${space}; boundary=b`), "b");
  const head = `--b\r\nContent-Disposition: form-data${" ".repeat(8_000)}`;
  const parts = `${head}; name="x"\r\n\r\n1\r\n`.repeat(900);
  assert.equal(
    passed(`${parts}${MODEL_PART}--b--`, 65_536).reader.model,
    "mine",
  );
  for (let at = 0; at < 500; at++) {
    assert.throws(
      () => passed(`--b\r\nX:${" ".repeat(8_000)}\0\r\n\r\n`, 65_536),
      /malformed header/,
    );
  }
});

Deno.test("boundaryOf() reads quoted and plain boundaries", () => {
  const of = (tail: string) => boundaryOf(`multipart/form-data${tail}`);
  assert.equal(of("; boundary=----a-b"), "----a-b");
  assert.equal(of('; charset=utf-8; boundary="ab=c"'), "ab=c");
  const long = "b".repeat(70);
  assert.equal(of(` ;boundary=${long} ; `), long);
  const wrong = [
    "",
    "; boundary=",
    `; boundary=${long}b`,
    "; boundary=a; boundary=b",
    "; boundary=a;;",
    "; boundary=é",
  ];
  for (const tail of wrong) assert.throws(() => of(tail), ApiError);
});
