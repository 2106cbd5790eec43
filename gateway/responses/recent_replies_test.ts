import assert from "node:assert/strict";
import { RecentReplies } from "./recent_replies.ts";

const reply = (id: string, bytes: number) => ({ id, items: [id], bytes });

Deno.test("a lane remembers its last reply, and every lane of the connection finds it", () => {
  const replies = new RecentReplies(100);
  const connection = replies.connect("key");
  const [one, two] = [connection.lane(""), connection.lane("two")];
  one.put(reply("a", 10));
  assert.deepEqual(two.find("a"), ["a"]);
  one.put(reply("b", 20));
  assert.equal(one.find("a"), undefined);
  assert.deepEqual(one.find("b"), ["b"]);
  assert.equal(replies.bytes, 20);
  two.forget("b");
  assert.deepEqual(one.find("b"), ["b"]);
  one.forget("b");
  assert.equal(one.find("b"), undefined);
  assert.equal(replies.bytes, 0);
});

Deno.test("a connection knows nothing of another one, and takes its replies with it", () => {
  const replies = new RecentReplies(100);
  const [one, two] = [replies.connect("key"), replies.connect("key")];
  one.lane("").put(reply("a", 10));
  two.lane("").put(reply("b", 10));
  assert.equal(two.lane("").find("a"), undefined);
  one.close();
  assert.equal(one.lane("").find("a"), undefined);
  assert.deepEqual(two.lane("").find("b"), ["b"]);
  assert.equal(replies.bytes, 10);
});

Deno.test("beyond the bound, the key that takes most loses its oldest first", () => {
  const replies = new RecentReplies(100);
  const small = replies.connect("small").lane("");
  small.put(reply("small", 20));
  const large = Array.from({ length: 4 }, (_, at) => {
    const lane = replies.connect("large").lane("");
    lane.put(reply(`large${at}`, 30));
    return lane;
  });
  assert.deepEqual(
    large.map((lane, at) => lane.find(`large${at}`) !== undefined),
    [false, false, true, true],
  );
  assert.deepEqual(small.find("small"), ["small"]);
  assert.equal(replies.bytes, 80);
  small.put(reply("huge", 101));
  assert.equal(small.find("huge"), undefined);
  assert.equal(replies.bytes, 60);
});
