/** Judges a mutant's exchanges while they arrive: once every check has failed, it needs no further request. */
import type { Exchange } from "../evidence/exchange.ts";
import type { Check } from "../suite/check.ts";
import type { ScenarioRecord } from "../suite/evidence.ts";
import type { Watch } from "../suite/session.ts";
import { judge, type Result } from "./judge.ts";

/** The factor between the numbers of exchanges at which the checks are judged. */
const LATER = 1.5;

export class KillWatch implements Watch {
  readonly #mode: "live" | "replay";
  readonly #checks: readonly Check[];
  readonly #records: Map<string, ScenarioRecord>;
  readonly #seen = new Set<Exchange>();
  readonly #failures = new Map<Check, Result>();
  #judgeAt = 1;

  /**
   * Watches for failures of the checks.
   *
   * @param expected the reference gateway's records of the same scenarios, by name
   */
  constructor(
    mode: "live" | "replay",
    checks: readonly Check[],
    expected: ReadonlyMap<string, ScenarioRecord>,
  ) {
    this.#mode = mode;
    this.#checks = checks;
    this.#records = new Map(expected);
  }

  get isDecided(): boolean {
    return this.#failures.size === this.#checks.length;
  }

  /** The failure of a check, where one was seen. */
  failureOf(check: Check): Result | undefined {
    return this.#failures.get(check);
  }

  see(scenario: string, exchange: Exchange): void {
    const record = this.#records.get(scenario);
    // What follows from replies is not comparable with another run.
    if (record === undefined || record.followsReplies === true) return;
    const at = record.exchanges.findIndex(({ label }) =>
      label === exchange.label
    );
    if (at < 0) return;
    const exchanges = record.exchanges.with(at, exchange);
    this.#records.set(scenario, { ...record, exchanges });
    this.#seen.add(exchange);
    if (this.#seen.size < this.#judgeAt) return;
    this.#judgeAt = Math.ceil(this.#seen.size * LATER);
    for (const check of this.#checks) this.#judge(check);
  }

  /** Exchanges to come are the reference gateway's, so only a finding on a mutant's own counts. */
  #judge(check: Check): void {
    if (this.#failures.has(check)) return;
    const result = judge(check, this.#mode, this.#records);
    const isKilled = result.findings.some(({ verdict, exchange }) =>
      verdict === "fail" && exchange !== undefined && this.#seen.has(exchange)
    );
    if (isKilled) this.#failures.set(check, result);
  }
}
