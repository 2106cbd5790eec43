/**
 * One model in a public price table: the card that follows from its row, in the form of the
 * configuration file, and what no card can express.
 */
import { compact } from "../../translate/bytes/compact.ts";
import { exactRate } from "./exact_rate.ts";

/** Rates by meter, in micro-dollars per million tokens. */
export type Rates = Readonly<Record<string, number>>;

/** When other rates apply: all that is given has to hold. */
export interface Condition {
  /** Service tier: `priority`. */
  readonly tier?: string;
  /** Speed of the generation: `fast`. */
  readonly speed?: string;
  /** Where it is computed: `us`. */
  readonly region?: string;
  /** More prompt tokens than these. */
  readonly prompt_above?: number;
}

/** A condition, and the rates that it replaces or multiplies. */
export interface ConditionalRates extends Condition {
  /** Multiplies every rate of tokens; absent: see `rates`. */
  readonly factor?: number;
  /** Replaced rates; those that are absent stay. */
  readonly rates?: Rates;
}

/** A card without its date: what the model costs. */
export interface ListedCard {
  /** Rates of tokens; a row of a table has at least `input` and `output`. */
  readonly rates: Rates;
  /** Price of a use of each vendor's tool, in micro-dollars. */
  readonly uses: Rates;
  /** Price of a call in micro-dollars; absent: not known. */
  readonly call?: number;
  /** Conditions are unique. */
  readonly when: readonly ConditionalRates[];
}

/** A name of a model in a table: who serves it, and under which id. */
interface ListedName {
  /** As the table calls the provider. */
  readonly provider: string;
  /** The provider's own id. */
  readonly model: string;
}

/** A row of a table. */
export interface ListedModel {
  /** As the table names it; unique. */
  readonly name: string;
  /** Whose model it is; a reseller's row has the vendor's name as well. */
  readonly names: readonly ListedName[];
  /** The only region of the row; absent: any. */
  readonly region?: string;
  /** Longest prompt; absent: not known. */
  readonly maxInputTokens?: number;
  /** Absent: see `problems`. */
  readonly card?: ListedCard;
  /** Why there is no card; each begins with the field. */
  readonly problems: readonly string[];
  /** What the card leaves out or assumes; each begins with the field. */
  readonly notes: readonly string[];
}

/** Collects the rates of one row, and what is wrong with its fields. */
export class CardDraft {
  readonly problems: string[] = [];
  readonly notes: string[] = [];
  readonly #rates: Record<string, number> = {};
  readonly #uses: Record<string, number> = {};
  readonly #when = new Map<
    string,
    { readonly condition: Condition; factor?: number; rates?: Rates }
  >();
  #call: number | undefined;

  /** The amount of a field; undefined for null and for one that no card can express. */
  amount(field: string, value: unknown, places: number): number | undefined {
    if (value === undefined || value === null) return undefined;
    const read = typeof value === "string"
      ? exactRate(value, places)
      : { problem: "is no number" };
    if ("microUsd" in read) return read.microUsd;
    this.problems.push(`${field}: ${read.problem}`);
    return undefined;
  }

  /** Sets a rate, also under a condition. */
  rate(
    meter: string,
    microUsd: number | undefined,
    condition: Condition = {},
  ): void {
    if (microUsd === undefined) return;
    if (Object.keys(condition).length === 0) {
      this.#rates[meter] = microUsd;
      return;
    }
    const entry = this.#entry(condition);
    entry.rates = { ...entry.rates, [meter]: microUsd };
  }

  /** Multiplies the rates under a condition. */
  factor(field: string, value: unknown, condition: Condition): void {
    // Three decimal places are more than any vendor uses.
    const thousandths = this.amount(field, value, 3);
    if (thousandths !== undefined) {
      this.#entry(condition).factor = thousandths / 1000;
    }
  }

  use(tool: string, microUsd: number | undefined): void {
    if (microUsd !== undefined) this.#uses[tool] = microUsd;
  }

  call(microUsd: number | undefined): void {
    if (microUsd !== undefined) this.#call = microUsd;
  }
  /** The row's card, or why there is none. */
  result(): Pick<ListedModel, "card" | "problems" | "notes"> {
    const { problems, notes } = this;
    const { input, output } = this.#rates;
    if (input === undefined || output === undefined) {
      problems.push("input and output: no price for tokens of both");
    } else if (input === 0 && output === 0) {
      problems.push(
        'input and output: cost nothing there; write "free": true for the model if that is so',
      );
    }
    if (problems.length > 0) return { problems, notes };
    const card: ListedCard = {
      rates: this.#rates,
      uses: this.#uses,
      ...compact({ call: this.#call }),
      when: [...this.#when.values()].map(({ condition, factor, rates }) => ({
        ...condition,
        ...(factor !== undefined
          ? { factor }
          : rates === undefined
          ? {}
          : asFactor(this.#rates, rates)),
      })),
    };
    return { card, problems, notes };
  }

  #entry(condition: Condition): { factor?: number; rates?: Rates } {
    const key = conditionText(condition);
    const entry = this.#when.get(key) ?? { condition };
    this.#when.set(key, entry);
    return entry;
  }
}

/**
 * Rates that are all the same multiple of the card's are written as a factor, which then holds for
 * meters that the table does not have as well.
 */
function asFactor(
  own: Rates,
  rates: Rates,
): Pick<ConditionalRates, "factor" | "rates"> {
  const meters = Object.keys(rates);
  const thousandths = new Set(
    meters.map((meter) => (rates[meter] ?? 0) * 1000 / (own[meter] ?? 0)),
  );
  const [first = 0] = thousandths;
  return thousandths.size === 1 && Number.isInteger(first) && first > 1000 &&
      meters.includes("input") && meters.includes("output")
    ? { factor: first / 1000 }
    : { rates };
}

/** A condition in words, such as `tier priority, prompt above 200000`; empty for none. */
export function conditionText(
  { tier, speed, region, prompt_above }: Condition,
): string {
  return [
    ...(tier === undefined ? [] : [`tier ${tier}`]),
    ...(speed === undefined ? [] : [`speed ${speed}`]),
    ...(region === undefined ? [] : [`region ${region}`]),
    ...(prompt_above === undefined ? [] : [`prompt above ${prompt_above}`]),
  ].join(", ");
}
