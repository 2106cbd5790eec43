/**
 * Malformed request bodies: each gets a 4xx in the client's format or is served, and the next
 * request succeeds.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import {
  type BodyRow as Row,
  MODELS,
  requestText,
  runBodies as run,
} from "../support/tables/hostile_bodies.ts";

const MODEL = "vendora-opus-4-8";

Deno.test("bodies that are not a JSON object", (t) =>
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

Deno.test("bodies that are not UTF-8, and unpaired surrogates", (t) =>
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
        Buffer.from(requestText(MODEL).replace(/Hi.*/, "")),
        Buffer.from(bad),
        Buffer.from('"}]}'),
      ]),
      status: 400,
    })),
    {
      name: "UTF-16",
      body: Buffer.from(requestText(MODEL), "utf16le"),
      headers: { "content-type": "application/json; charset=utf-16" },
      status: 400,
    },
    ...MODELS.map((model): Row => ({
      name: `an escaped unpaired surrogate, to ${model}`,
      body: requestText(model).replace("Hi", "a\\ud800b\\udc00"),
      status: 200,
    })),
    {
      name: "an unpaired surrogate as the model",
      body: requestText("\\ud800"),
      status: 404,
    },
    {
      name: "an unpaired surrogate as a field name",
      body: requestText(MODEL, ',"\\ud800":1'),
    },
    ...MODELS.map((model): Row => ({
      name: `an escaped zero byte, to ${model}`,
      body: requestText(model).replace("Hi", "a\\u0000b"),
      status: 200,
    })),
  ]));

Deno.test("keys that every object inherits", (t) =>
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
        body: requestText(model, more),
      }))
    ),
  ).then(() => {
    assert.equal(Reflect.get({}, "stream"), undefined);
    assert.equal(Reflect.get({}, "isAdmin"), undefined);
  }));

function nested(depth: number): string {
  return `${"[".repeat(depth)}${"]".repeat(depth)}`;
}

function nestedObjects(depth: number, key: string): string {
  return `{"${key}":`.repeat(depth) + '{"n":12345678901234567890}' +
    "}".repeat(depth);
}

for (const depth of [3_000, 100_000]) {
  Deno.test(`bodies that nest ${depth} levels deep`, (t) =>
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
            "response_format",
            `,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":${
              nestedObjects(depth, "properties")
            }}}`,
          ],
          [
            "output_config.format",
            `,"output_config":{"format":{"type":"json_schema","schema":${
              nestedObjects(depth, "properties")
            }}}`,
          ],
        ].map(([name = "", more = ""]): Row => ({
          name: `in ${name}, to ${model}`,
          body: requestText(model, more),
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

Deno.test("bodies that nest deeper than V8 can serialize", (t) =>
  run(
    t,
    MODELS.map((model) => ({
      name: `numeric keys, to ${model}`,
      body: requestText(
        model,
        `,"tools":[{"type":"function","function":{"name":"f","parameters":${
          '{"5":'.repeat(5_000)
        }{}${"}".repeat(5_000)}}}]`,
      ),
      status: 400,
    })),
  ));

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
      body: requestText(MODEL),
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
      body: requestText(MODEL),
      headers: { "content-type": type },
      status: type === "" ? 415 : 200,
    })),
    ...["br", "zstd", "compress", "gzip, gzip", "gzip;q=1", "x"].map((
      encoding,
    ): Row => ({
      name: `encoding ${encoding}`,
      body: requestText(MODEL),
      headers: { "content-encoding": encoding },
      status: 415,
    })),
    {
      name: "gzip",
      body: gzipSync(requestText(MODEL)),
      headers: { "content-encoding": "gzip" },
      status: 200,
    },
    {
      name: "plain text declared as gzip",
      body: requestText(MODEL),
      headers: { "content-encoding": "gzip" },
      status: 400,
    },
    {
      name: "truncated gzip",
      body: gzipSync(requestText(MODEL)).subarray(0, -9),
      headers: { "content-encoding": "gzip" },
      status: 400,
    },
    {
      name: "gzip with trailing bytes",
      body: Buffer.concat([gzipSync(requestText(MODEL)), Buffer.from("more")]),
      headers: { "content-encoding": "gzip" },
    },
  ]));
