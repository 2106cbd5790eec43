/**
 * Credentials that are keys: from environment variables and files, the first that the upstream has
 * not refused.
 */
import type { AuthHeaders, Credential, HostAuth } from "./credential.ts";
import { KeyFile } from "./key_file.ts";

/** Where a key comes from: a variable's value, which is constant, or a file. */
type KeySource = string | KeyFile;

/**
 * A credential of one or more keys. A refused key is not used again before it has changed, unless
 * all are refused: then they take turns, since a refusal may concern a single model.
 */
export function keyCredential(sources: readonly KeySource[]): Credential {
  const refusedKeys = new Set<string>();
  const files = sources.filter((source) => source instanceof KeyFile);
  const constantKeys = sources.filter((source) => typeof source === "string");
  let cached = new WeakMap<HostAuth, AuthHeaders>();
  let cachedKey = "";
  const keys = (): readonly string[] => sources.map(keyOf);
  const current = (): string => {
    const all = sources.length === 1 ? undefined : keys();
    return all?.find((key) => !refusedKeys.has(key)) ??
      (sources[0] === undefined ? "" : keyOf(sources[0]));
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
      const values = Object.values(sent);
      const before = [...sources.flatMap(secretsOf)].find((key) =>
        values.includes(key) || values.includes(`Bearer ${key}`)
      );
      await Promise.all(files.map((file) => file.lookAgain(true)));
      // A key from before the last rotation.
      if (before === undefined) return true;
      refusedKeys.add(before);
      const all = keys();
      for (const key of refusedKeys) {
        if (!all.includes(key)) refusedKeys.delete(key);
      }
      if (all.some((key) => !refusedKeys.has(key))) return true;
      refusedKeys.clear();
      refusedKeys.add(before);
      return false;
    },
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
