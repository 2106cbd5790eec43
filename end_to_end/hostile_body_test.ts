/** Bodies that no honest caller sends: each gets its 4xx in the caller's format or is served, and the next request works. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import {
  asking,
  type BodyRow as Row,
  MODELS,
  runBodies as run,
} from "./hostile_bodies.ts";

const MODEL = "vendora-opus-4-8";

Deno.test("bodies that are no JSON object", (t) =>
  run(
    t,
    [
      "",
      " ",
      "{",
      '{"a":}',
      "{'a':1}",
      '{"a":1,}',
      "{a:1}",
      "[]",
      "null",
      "5",
      '"{}"',
      "{}{}",
      "\ufeff{}",
      "//\n{}",
      '{"a":NaN}',
      '{"a":Infinity}',
      '{"a":-}',
      '{"a":01}',
      '{"a":"\n"}',
      '{"a":"\\x"}',
      '{"a":"\\u12"}',
      "\0",
      "<xml/>",
      "[".repeat(100_000),
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      '{"a":'.repeat(100_000),
    ].map((body) => ({ name: body.slice(0, 20), body, status: 400 })),
  ));

Deno.test("bodies that are no UTF-8, and halves of characters", (t) =>
  run(t, [
    ...[
      [0xff],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe4, 0xb8],
    ].map((bad): Row => ({
      name: `the bytes ${bad}`,
      body: Buffer.concat([
        Buffer.from(asking(MODEL).replace(/Hi.*/, "")),
        Buffer.from(bad),
        Buffer.from('"}]}'),
      ]),
      status: 400,
    })),
    {
      name: "UTF-16",
      body: Buffer.from(asking(MODEL), "utf16le"),
      headers: { "content-type": "application/json; charset=utf-16" },
      status: 400,
    },
    ...MODELS.map((model): Row => ({
      name: `half a character escaped, to ${model}`,
      body: asking(model).replace("Hi", "a\\ud800b\\udc00"),
      status: 200,
    })),
    {
      name: "half a character for a model",
      body: asking("\\ud800"),
      status: 404,
    },
    {
      name: "half a character for a field",
      body: asking(MODEL, ',"\\ud800":1'),
    },
    ...MODELS.map((model): Row => ({
      name: `a zero byte escaped, to ${model}`,
      body: asking(model).replace("Hi", "a\\u0000b"),
      status: 200,
    })),
  ]));

Deno.test("names that objects have anyway", (t) =>
  run(
    t,
    MODELS.flatMap((model) =>
      [
        ',"__proto__":{"stream":true,"isAdmin":1}',
        ',"constructor":{"prototype":{"stream":true}}',
        ',"toString":1,"valueOf":2,"hasOwnProperty":3',
        ',"metadata":{"__proto__":{"user_id":"x"}}',
        ',"tools":[{"name":"__proto__","input_schema":{"type":"object","properties":{"__proto__":{"type":"string"}}}}]',
        ',"tools":[{"type":"function","function":{"name":"constructor","parameters":{"__proto__":{}}}}]',
      ].map((more): Row => ({
        name: `${more.slice(2, 40)} to ${model}`,
        body: asking(model, more),
      }))
    ),
  ).then(() => {
    assert.equal(Reflect.get({}, "stream"), undefined);
    assert.equal(Reflect.get({}, "isAdmin"), undefined);
  }));

/** Brackets where a value may stand. */
function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

/** Objects in objects, where a schema or an argument may stand. */
function nestedObjects(depth: number, key: string): string {
  return `{"${key}":`.repeat(depth) + '{"n":12345678901234567890}' +
    "}".repeat(depth);
}

for (const depth of [3_000, 100_000]) {
  Deno.test(`bodies with ${depth} brackets`, (t) =>
    run(
      t,
      MODELS.flatMap((model) =>
        [
          ["an unknown field", `,"x":${nested(depth)}`],
          ["metadata", `,"metadata":${nestedObjects(depth, "a")}`],
          ["system", `,"system":${nested(depth)}`],
          ["stop", `,"stop":${nested(depth)}`],
          [
            "a tool's schema",
            `,"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":${
              nestedObjects(depth, "items")
            }}}}]`,
          ],
          [
            "a function's schema",
            `,"tools":[{"type":"function","function":{"name":"f","parameters":${
              nestedObjects(depth, "items")
            }}}]`,
          ],
          [
            "a schema's references",
            `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"a":{"$ref":"#/$defs/a"},"b":${
              nestedObjects(depth, "anyOf")
            }}}}}]`,
          ],
          [
            "an answer's format",
            `,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":${
              nestedObjects(depth, "properties")
            }}}`,
          ],
          [
            "an answer's format in the other words",
            `,"output_config":{"format":{"type":"json_schema","schema":${
              nestedObjects(depth, "properties")
            }}}`,
          ],
        ].map(([name = "", more = ""]): Row => ({
          name: `in ${name}, to ${model}`,
          body: asking(model, more),
        })).concat(
          [
            [
              "content",
              `{"role":"user","content":${nested(depth)}}`,
            ],
            [
              "a call's input",
              `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${
                nestedObjects(depth, "a")
              }}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}`,
            ],
            [
              "a call's arguments",
              `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"${
                nestedObjects(depth, "a").replaceAll('"', '\\"')
              }"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`,
            ],
            [
              "a result",
              `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":${
                nested(depth)
              }}]}`,
            ],
            [
              "an unknown block",
              `{"role":"user","content":[{"type":"novel","value":${
                nested(depth)
              }}]}`,
            ],
          ].map(([name = "", turns = ""]): Row => ({
            name: `in ${name}, to ${model}`,
            body:
              `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"Hi"},${turns}]}`,
          })),
        )
      ),
    ));
}

Deno.test("content types and encodings", (t) =>
  run(t, [
    ...[
      "text/plain",
      "multipart/form-data; boundary=a",
      "application/x-www-form-urlencoded",
      "application/xml",
      "*/*",
      ";",
      "application/jsonx",
      "application/x\u00e4",
      "a".repeat(5_000),
    ].map((type): Row => ({
      name: `type ${type.slice(0, 30)}`,
      body: asking(MODEL),
      headers: { "content-type": type },
      status: 415,
    })),
    ...[
      undefined,
      "",
      "application/json;charset=utf-8",
      "APPLICATION/JSON ; x=y",
      "application/vnd.api+json",
    ].map((type): Row => ({
      name: `type ${type}`,
      body: asking(MODEL),
      headers: { "content-type": type },
      status: type === "" ? 415 : 200,
    })),
    ...["br", "zstd", "compress", "gzip, gzip", "gzip;q=1", "x"].map((
      encoding,
    ): Row => ({
      name: `encoding ${encoding}`,
      body: asking(MODEL),
      headers: { "content-encoding": encoding },
      status: 415,
    })),
    {
      name: "gzip",
      body: gzipSync(asking(MODEL)),
      headers: { "content-encoding": "gzip" },
      status: 200,
    },
    {
      name: "no gzip under its name",
      body: asking(MODEL),
      headers: { "content-encoding": "gzip" },
      status: 400,
    },
    {
      name: "gzip that is cut",
      body: gzipSync(asking(MODEL)).subarray(0, -9),
      headers: { "content-encoding": "gzip" },
      status: 400,
    },
    {
      name: "gzip with more behind it",
      body: Buffer.concat([gzipSync(asking(MODEL)), Buffer.from("more")]),
      headers: { "content-encoding": "gzip" },
    },
  ]));
