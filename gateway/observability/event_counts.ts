/**
 * Counts the events that operators should know of, by type. It exists before the gateway does: the
 * store and the credentials report while they open.
 */

/** Events, and the states that they begin and end. */
export class EventCounts {
  readonly #counts = new Map<string, number>();
  #isStoreUp = true;
  #isConfigurationRefused = false;

  /** Counts an event. Types come from code, so their number is bounded. */
  count(type: string): void {
    this.#counts.set(type, (this.#counts.get(type) ?? 0) + 1);
    if (type === "store_down") this.#isStoreUp = false;
    else if (type === "store_up") this.#isStoreUp = true;
    else if (type === "configuration_refused") {
      this.#isConfigurationRefused = true;
    } else if (
      type === "configuration_loaded" || type === "configuration_unchanged"
    ) this.#isConfigurationRefused = false;
  }

  /** The number of each type that has occurred. */
  all(): Iterable<readonly [string, number]> {
    return this.#counts;
  }

  /** False from a write that failed to the next that succeeded. */
  get isStoreUp(): boolean {
    return this.#isStoreUp;
  }

  /** True while the configuration file was refused and an earlier one is in force. */
  get isConfigurationRefused(): boolean {
    return this.#isConfigurationRefused;
  }
}
