/**
 * The evidence for a check: the exchanges of its scenarios, and the notes of the scenarios. Missing
 * evidence is a failure.
 */
import { type Exchange, headerOf, isStream } from "../evidence/exchange.ts";
import { isObject, type Json } from "@model-gateway/replay/json";
import { NotTestable } from "./finding.ts";

/** The exchanges of one finished scenario. */
export interface ScenarioRecord {
  readonly scenario: string;
  /** Its exchanges in the order of their requests. */
  readonly exchanges: readonly Exchange[];
  /** Other facts that it recorded, such as how many events arrived before a gate was opened. */
  readonly notes: Readonly<Record<string, Json>>;
  /** True when the scenario read a reply before its end: its requests may follow from replies. */
  readonly followsReplies?: boolean;
  /** Why it stopped early; absent when it was played to its end. */
  readonly stopped?: string;
  /** True when something did not come within the time that the scenario waits for it. */
  readonly late?: boolean;
}

/** The exchanges whose reply, or its end, did not come in time. */
export function unanswered(
  records: readonly ScenarioRecord[],
): readonly Exchange[] {
  return records.flatMap(({ exchanges }) => exchanges.filter(isUnanswered));
}

export function isUnanswered({ ending }: Exchange): boolean {
  return ending === "timeout";
}

const SHOWN_NAMES = 3;

/** The names of exchanges, the first ones of many. */
export function namesOf(exchanges: readonly Exchange[]): string {
  const names = exchanges.map(({ scenario, label }) => `${scenario}/${label}`);
  const rest = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).join(", ") +
    (rest > 0 ? `, and ${rest} more` : "");
}

export class Evidence {
  /** How the target is judged. */
  readonly mode: "live" | "replay";
  readonly records: readonly ScenarioRecord[];

  /** Evidence from the records of scenarios. */
  constructor(mode: "live" | "replay", records: readonly ScenarioRecord[]) {
    this.mode = mode;
    this.records = records;
  }

  /** All exchanges, in order. */
  get exchanges(): readonly Exchange[] {
    return this.records.flatMap((record) => record.exchanges);
  }

  /**
   * The exchange with that label.
   * @throws {NotTestable} when the scenario did not record it
   */
  exchange(label: string): Exchange {
    const found = this.exchanges.find((exchange) => exchange.label === label);
    if (found !== undefined) return found;
    throw new NotTestable(`no exchange "${label}"${this.#why()}`);
  }

  /**
   * All exchanges whose label has these parts, separated by "/"; "*" matches any one part.
   * @throws {NotTestable} when there is none
   */
  matching(pattern: string): readonly Exchange[] {
    const wanted = pattern.split("/");
    const found = this.exchanges.filter(({ label }) => {
      const parts = label.split("/");
      return parts.length === wanted.length &&
        wanted.every((part, index) => part === "*" || part === parts[index]);
    });
    if (found.length > 0) return found;
    throw new NotTestable(`no exchange "${pattern}"${this.#why()}`);
  }

  /**
   * The exchanges that match and were answered 200 with a JSON object.
   * @throws {NotTestable} when one was answered otherwise
   */
  replies(pattern: string): readonly Exchange[] {
    return this.matching(pattern).map((exchange) => {
      if (exchange.head?.status === 200 && isObject(exchange.json)) {
        return exchange;
      }
      throw new NotTestable(
        `"${exchange.label}" should be answered 200 with JSON, and was ${
          outcome(exchange)
        }`,
        exchange,
      );
    });
  }

  /**
   * The exchanges that match and were answered 200 with an event stream.
   * @throws {NotTestable} when one was answered otherwise
   */
  streams(pattern: string): readonly Exchange[] {
    return this.matching(pattern).map((exchange) => {
      if (
        exchange.head?.status === 200 &&
        (isStream(exchange) || exchange.frames.length > 0)
      ) return exchange;
      throw new NotTestable(
        `"${exchange.label}" should be answered 200 with a stream, and was ${
          outcome(exchange)
        }`,
        exchange,
      );
    });
  }

  /**
   * The value that a scenario noted under a name.
   * @throws {NotTestable} when there is none
   */
  note(name: string): Json {
    for (const { notes } of this.records) {
      const value = notes[name];
      if (value !== undefined) return value;
    }
    throw new NotTestable(`no note "${name}"${this.#why()}`);
  }

  #why(): string {
    const stops = this.records.flatMap(({ scenario, stopped }) =>
      stopped === undefined ? [] : [`${scenario}: ${stopped}`]
    );
    return stops.length === 0 ? "" : ` (${stops.join("; ")})`;
  }
}

/** The reply of an exchange in a few words. */
export function outcome(exchange: Exchange): string {
  const { head, ending, problem } = exchange;
  if (head === undefined) {
    return `not answered: ${problem ?? ending}`;
  }
  const type = headerOf(exchange, "content-type") ?? "no content type";
  const body = exchange.text.slice(0, 200).replaceAll(/\s+/g, " ");
  return `${head.status} ${type}${
    ending === "complete" ? "" : `, ${ending}`
  }: ${body}`;
}
