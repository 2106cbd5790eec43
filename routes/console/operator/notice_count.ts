import type { Gateway } from "../../../gateway/gateway.ts";
import { noticesOf } from "./notices.tsx";

/** How long a number is used: each page would read it again. */
const USED_MS = 5_000;
/** A page does not wait longer for it, so that it comes also while the store does not answer. */
const WAIT_MS = 300;

interface Count {
  readonly atMs: number;
  readonly value: Promise<number | undefined>;
}

const counts = new WeakMap<Gateway, Count>();

/** Counts what there is to look at; undefined: it is not known now. */
export async function noticeCount(
  gateway: Gateway,
): Promise<number | undefined> {
  const nowMs = gateway.now();
  const known = counts.get(gateway);
  const isFresh = known !== undefined &&
    Math.abs(nowMs - known.atMs) < USED_MS;
  const count = isFresh ? known : { atMs: nowMs, value: countNotices(gateway) };
  counts.set(gateway, count);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), WAIT_MS);
  });
  try {
    return await Promise.race([count.value, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function countNotices(gateway: Gateway): Promise<number | undefined> {
  try {
    const notices = await noticesOf(gateway);
    return notices.reduce((sum, { items }) => sum + items.length, 0);
  } catch {
    return undefined;
  }
}
