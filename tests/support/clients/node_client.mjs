// A program for Node: mixes valid calls with refused ones over Node's connection pools, and sends
// bodies beyond the size limit. Its only argument is JSON; it prints JSON.
import { Buffer } from "node:buffer";
import http from "node:http";
import process from "node:process";

const { url, right, refused, rounds, large } = JSON.parse(
  process.argv[2],
);

for (const call of [right, ...refused]) {
  call.body = JSON.stringify({ ...call.json, system: "x".repeat(call.bytes) });
}

/** Sends through Node's `fetch`, whose pool keeps connections open. */
async function byFetch({ path, method = "POST", headers, body }) {
  const response = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  await response.text();
  return response.status;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

/** Sends through `node:http`. */
function byAgent({ path, method = "POST", headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, {
      method,
      agent,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...headers,
      },
    }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** Counts the outcomes, each keyed by the expected and the received status. */
async function mixed(send) {
  const outcomes = {};
  let next = 0;
  const note = async (call) => {
    const found = await send(call).catch((error) =>
      error.cause?.code ?? error.code ?? error.message
    );
    const outcome = `${call.status}: ${found}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const worker = async () => {
    for (let round; (round = next++) < rounds;) {
      await note(refused[round % refused.length]);
      await note(right);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return outcomes;
}

/** Counts the answers to bodies beyond the size limit. */
async function tooLarge() {
  const outcomes = {};
  const body = Buffer.alloc(large.bytes, "x");
  for (let i = 0; i < large.times; i++) {
    const response = await fetch(url + right.path, {
      method: "POST",
      headers: { "content-type": "application/json", ...right.headers },
      body,
    });
    const { error } = await response.json();
    const outcome = `${response.status}: ${error.message}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
}

const found = {
  fetch: await mixed(byFetch),
  agent: await mixed(byAgent),
  large: await tooLarge(),
};
agent.destroy();
process.stdout.write(JSON.stringify(found));
