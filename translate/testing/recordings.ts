/**
 * Recorded exchanges with real vendors, for tests. They are in a folder outside the repository and
 * are read, never copied.
 */

export interface Recording {
  /** Name of the file, without `.json`. */
  readonly id: string;
  /** The wire format: messages, chat, gemini, responses. */
  readonly vendor: string;
  /** Null where only the reply was recorded. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly body: unknown;
  } | null;
  /**
   * `body` is JSON, `sse` an event stream as received, `raw_text` a stream that is a JSON array.
   */
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly sse?: string;
    readonly raw_text?: string;
  };
  /** Vendor, operation (`generate`, `count_tokens`) and features of the exchange. */
  readonly meta: {
    readonly provider: string;
    readonly op: string;
    readonly stream: boolean;
    readonly features: readonly string[];
  };
}

const FOLDER = new URL("../../../shared/recordings/", import.meta.url);

/**
 * All recordings, sorted by name; undefined (with a warning on the console) where the folder is
 * absent.
 */
export function recordings(): readonly Recording[] | undefined {
  let names: string[];
  try {
    names = [...Deno.readDirSync(FOLDER)].map((file) => file.name);
  } catch {
    // deno-lint-ignore no-console
    console.warn(
      "NOTICE: no folder ../shared/recordings beside the repository: tests over recordings are skipped",
    );
    return undefined;
  }
  return names.filter((name) => /^[a-z]+\..*\.json$/.test(name)).sort().map((
    name,
  ) =>
    JSON.parse(Deno.readTextFileSync(new URL(encodeURIComponent(name), FOLDER)))
  );
}
