/**
 * The lists of the hosts that wildcard rows name: read at start, at each reload and every hour, in
 * the background. A host out of reach is asked again; until then its last list stays in force.
 */
import { ApiError } from "../../../translate/model/error.ts";
import type { TimerId, Timers } from "../../timers.ts";
import { hostList, HostListError } from "./host_list.ts";
import type { ListedIds } from "./wildcards.ts";

/** A list has changed, or cannot be read. */
export type HostListEvent =
  | {
    readonly type: "models_listed";
    readonly vendor: string;
    /** Number of the host's models that wildcard rows offer. */
    readonly models: number;
    /** Models beyond the most for one host, and entries without a usable id; absent if none. */
    readonly left_out?: number;
  }
  | {
    readonly type: "models_not_listed";
    readonly vendor: string;
    /** Contains nothing that the host sent. */
    readonly reason: string;
  };

/** Where a list is, and what of it is used. */
export interface ListSource {
  /** The address of the list. */
  readonly url: string;
  /** Headers that authenticate the request. */
  headers():
    | Readonly<Record<string, string>>
    | Promise<Readonly<Record<string, string>>>;
  /** Makes the request. */
  readonly fetch: typeof fetch;
  /** Whether a wildcard row offers the model with this id of the host. */
  wants(id: string): boolean;
}

interface HostListsOptions {
  /** For repeated requests. */
  readonly timers: Timers;
  /** Called when the ids of any list have changed. */
  readonly onChange: () => void;
  /** Receives what operators should know: changes, and the first failure in a row. */
  readonly onEvent: (event: HostListEvent) => void;
}

/** Most models of one host. */
export const MAX_LISTED = 1_000;
const FIRST_RETRY_MS = 2_000;
const LAST_RETRY_MS = 300_000;
const REFRESH_MS = 3_600_000;

interface Followed {
  readonly source: ListSource;
  readonly ended: AbortController;
  ids?: readonly string[];
  leftOut: number;
  failures: number;
  timer?: TimerId;
}

/** Keeps a list for each vendor that it follows. */
export class HostLists {
  readonly #options: HostListsOptions;
  readonly #followed = new Map<string, Followed>();

  /** Follows none yet. */
  constructor(options: HostListsOptions) {
    this.#options = options;
  }

  /** The ids by vendor, as far as they are known. */
  known(): ListedIds {
    return Object.fromEntries(
      [...this.#followed].map(([vendor, { ids, source }]) => [
        vendor,
        (ids ?? []).filter((id) => source.wants(id)),
      ]),
    );
  }

  /**
   * Replaces the sources, by vendor, and reads each list. A list whose address has not changed
   * keeps its ids until it is read.
   */
  follow(sources: ReadonlyMap<string, ListSource>): void {
    const previous = new Map(this.#followed);
    this.close();
    for (const [vendor, source] of sources) {
      const before = previous.get(vendor);
      const followed: Followed = {
        source,
        ended: new AbortController(),
        leftOut: 0,
        failures: 0,
        ...(before?.ids === undefined || before.source.url !== source.url
          ? {}
          : { ids: before.ids }),
      };
      this.#followed.set(vendor, followed);
      void this.#read(vendor, followed);
    }
  }

  /** Stops requests, and forgets every list. */
  close(): void {
    for (const { ended, timer } of this.#followed.values()) {
      ended.abort();
      if (timer !== undefined) this.#options.timers.clear(timer);
    }
    this.#followed.clear();
  }

  async #read(vendor: string, followed: Followed): Promise<void> {
    const { source, ended: { signal } } = followed;
    try {
      const { ids, unusable } = await hostList(
        source.url,
        await source.headers(),
        source.fetch,
        signal,
      );
      if (signal.aborted) return;
      this.#received(vendor, followed, ids, unusable);
    } catch (error) {
      if (signal.aborted) return;
      this.#failed(vendor, followed, error);
    }
  }

  #received(
    vendor: string,
    followed: Followed,
    ids: readonly string[],
    unusable: number,
  ): void {
    const { onChange, onEvent } = this.#options;
    const wanted = ids.filter((id) => followed.source.wants(id));
    const next = wanted.slice(0, MAX_LISTED);
    const leftOut = wanted.length - next.length + unusable;
    const isChanged = followed.ids?.join("\n") !== next.join("\n");
    const isReported = isChanged || followed.failures > 0 ||
      followed.leftOut !== leftOut;
    followed.ids = next;
    followed.leftOut = leftOut;
    followed.failures = 0;
    if (isChanged) onChange();
    this.#readAgain(vendor, followed, REFRESH_MS);
    if (isReported) {
      onEvent({
        type: "models_listed",
        vendor,
        models: next.length,
        ...(leftOut === 0 ? {} : { left_out: leftOut }),
      });
    }
  }

  #failed(vendor: string, followed: Followed, error: unknown): void {
    const ms = FIRST_RETRY_MS * 2 ** Math.min(followed.failures, 20);
    followed.failures++;
    this.#readAgain(vendor, followed, Math.min(ms, LAST_RETRY_MS));
    if (followed.failures > 1) return;
    this.#options.onEvent({
      type: "models_not_listed",
      vendor,
      reason: error instanceof HostListError
        ? error.message
        : error instanceof ApiError
        ? "there is no valid credential"
        : "the list could not be applied",
    });
  }

  #readAgain(vendor: string, followed: Followed, ms: number): void {
    followed.timer = this.#options.timers.set(
      () => void this.#read(vendor, followed),
      ms,
    );
  }
}
