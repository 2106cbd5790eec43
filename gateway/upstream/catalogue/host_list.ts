/**
 * Reads the list of models of a host (`GET /models`). Everything in it is untrusted: its size, its
 * form and its ids are checked.
 */
import {
  isObject,
  objectOr,
  parseJson,
} from "../../../translate/bytes/json.ts";
import { limitedText } from "../http/limited_text.ts";

/** The usable ids of a list. */
export interface HostList {
  /** Sorted, without repetitions. */
  readonly ids: readonly string[];
  /** Number of entries whose id is absent or not usable. */
  readonly unusable: number;
}

/** Why there is no list. The message is for operators and contains nothing that the host sent. */
export class HostListError extends Error {
  /** `message` is a sentence about the host, without a period. */
  constructor(message: string) {
    super(message);
    this.name = "HostListError";
  }
}

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/**
 * Starts as names of models do; `*` marks patterns, and blanks and control characters are refused.
 */
const ID = /^[A-Za-z0-9@~_][A-Za-z0-9@~_.:+/-]{0,199}$/;

/**
 * Fetches and reads a list.
 *
 * @param url the address of the list
 * @throws {HostListError}
 */
export async function hostList(
  url: string,
  headers: Readonly<Record<string, string>>,
  httpFetch: typeof fetch,
  signal?: AbortSignal,
): Promise<HostList> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  let text: string;
  try {
    const response = await httpFetch(url, {
      headers: { ...headers },
      redirect: "manual",
      signal: signal === undefined
        ? timeout
        : AbortSignal.any([timeout, signal]),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new HostListError(
        `the host answered with status ${response.status}`,
      );
    }
    const body = await limitedText(response, MAX_BYTES);
    if (body === undefined) {
      throw new HostListError("the host's list is too long");
    }
    text = body;
  } catch (error) {
    if (error instanceof HostListError) throw error;
    throw new HostListError("the host could not be reached");
  }
  return readList(text);
}

/** Reads a list in any of the forms that hosts send. */
function readList(text: string): HostList {
  const json = parseJson(text);
  const list = Array.isArray(json)
    ? json
    : objectOr(json)["data"] ?? objectOr(json)["models"];
  if (!Array.isArray(list)) {
    throw new HostListError("the host sent no list of models");
  }
  const ids = list.flatMap((one: unknown) => {
    const id = isObject(one) ? one["id"] ?? one["name"] : undefined;
    return typeof id === "string" && isUsable(id) ? [id] : [];
  });
  return {
    ids: [...new Set(ids)].toSorted(),
    unusable: list.length - ids.length,
  };
}

/** Ids appear in logs, addresses and other hosts' lists. */
function isUsable(id: string): boolean {
  return ID.test(id) &&
    id.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}
