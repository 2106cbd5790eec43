/**
 * Credentials that are keys: from environment variables and files, the first that the upstream
 * neither refuses nor limits.
 */
import type { AuthHeaders, Credential, HostAuth } from "./credential.ts";
import { KeyFile } from "./key_file.ts";

/** Where a key comes from: a variable's value, which is constant, or a file. */
type KeySource = string | KeyFile;

/**
 * A credential of one or more keys. A refused key is not used again before it has changed, unless
 * all are refused: then they take turns, since a refusal may concern a single model. A key whose
 * account is limited rests; where all do, the one that is due back first is used.
 *
 * @param now Unix time in milliseconds; absent: for one key, which never rests
 */
export function keyCredential(
  sources: readonly KeySource[],
  now: () => number = () => 0,
): Credential {
  /** Unix time in milliseconds until which a key is not used. */
  const restUntil = new Map<string, number>();
  const untilOf = (key: string): number => restUntil.get(key) ?? 0;
  const isFree = (key: string): boolean => untilOf(key) <= now();
  const files = sources.filter((source) => source instanceof KeyFile);
  const constantKeys = sources.filter((source) => typeof source === "string");
  let cached = new WeakMap<HostAuth, AuthHeaders>();
  let cachedKey = "";
  const keys = (): readonly string[] => sources.map(keyOf);
  const current = (): string => {
    if (sources.length === 1) return sources[0] ? keyOf(sources[0]) : "";
    const all = keys();
    return all.find(isFree) ??
      all.toSorted((a, b) => untilOf(a) - untilOf(b))[0] ?? "";
  };
  const keyIn = (sent: AuthHeaders): string | undefined => {
    const values = Object.values(sent);
    return sources.flatMap(secretsOf).find((key) =>
      values.includes(key) || values.includes(`Bearer ${key}`)
    );
  };
  /** Whether another key can be used. */
  const restKey = (key: string, until: number): boolean => {
    restUntil.set(key, until);
    const all = keys();
    for (const one of restUntil.keys()) {
      if (!all.includes(one)) restUntil.delete(one);
    }
    return all.some(isFree);
  };
  return {
    headers({ auth }) {
      const key = current();
      if (key !== cachedKey) {
        cached = new WeakMap();
        cachedKey = key;
      }
      let headers = cached.get(auth);
      if (headers === undefined) {
        headers = keyHeaders(key, auth);
        cached.set(auth, headers);
      }
      return headers;
    },
    async refused(sent) {
      const before = keyIn(sent);
      await Promise.all(files.map((file) => file.lookAgain(true)));
      // A key from before the last rotation.
      if (before === undefined) return true;
      if (restKey(before, Infinity)) return true;
      for (const [key, until] of restUntil) {
        if (until === Infinity) restUntil.delete(key);
      }
      restUntil.set(before, Infinity);
      return false;
    },
    rest(sent, ms) {
      const key = keyIn(sent);
      return sources.length > 1 && key !== undefined &&
        restKey(key, now() + ms);
    },
    keyCount: sources.length,
    secrets: files.length === 0
      ? () => constantKeys
      : () => sources.flatMap(secretsOf),
    state: () =>
      files.map((file) => file.state()).find(({ failure }) =>
        failure !== undefined
      ) ?? { usable: true },
    start: () => Promise.resolve(),
    close() {},
  };
}

/** The credential of a host that takes none. */
export const NO_AUTH: Credential = {
  headers: () => NO_HEADERS,
  refused: () => Promise.resolve(false),
  secrets: () => [],
  state: () => ({ usable: true }),
  start: () => Promise.resolve(),
  close() {},
};

const NO_HEADERS: AuthHeaders = {};

/** The headers that carry a key: as bearer token, in the host's own header, or both. */
export function keyHeaders(key: string, auth: HostAuth): AuthHeaders {
  const headers: Record<string, string> = {};
  const { header } = auth;
  const isHeader = header !== undefined && auth.schemes.includes("header");
  if (isHeader) headers[header] = key;
  if (!isHeader || auth.schemes.includes("bearer")) {
    headers["authorization"] = `Bearer ${key}`;
  }
  return headers;
}

function keyOf(source: KeySource): string {
  return typeof source === "string" ? source : source.key();
}

function secretsOf(source: KeySource): readonly string[] {
  return typeof source === "string" ? [source] : source.secrets();
}
