/**
 * Amounts of money on pages. The exact micro-dollars are in the element's value.
 */
import type { JSX } from "../jsx.d.ts";

/** Decimals of a column: two, or four where its largest amount is less than 100 dollars. */
export function decimalsOf(microUsd: readonly number[]): 2 | 4 {
  return microUsd.some((one) => Math.abs(one) >= 100_000_000) ? 2 : 4;
}

/**
 * An amount as text: `$18.4021`, `−$1.20`, `<$0.0001`; an amount other than zero never looks like
 * zero. Computed with integers.
 */
export function moneyText(microUsd: number, decimals: 2 | 4 | 6): string {
  const size = Math.abs(microUsd);
  const sign = microUsd < 0 ? "−" : "";
  if (size === 0) return `$${(0).toFixed(decimals)}`;
  if (size < 100 && decimals < 6) return `${sign}<$0.0001`;
  if (size < 5000 && decimals === 2) return `${sign}<$0.01`;
  const unit = 10 ** (6 - decimals);
  const units = Math.round(size / unit);
  const whole = Math.floor(units / 10 ** decimals);
  const part = String(units % 10 ** decimals).padStart(decimals, "0");
  return `${sign}$${whole.toLocaleString("en-US")}.${part}`;
}

/** A round amount beside a plot, short: `$0.0025`, `$500.00`, `$2.5M`. */
export function scaleText(microUsd: number): string {
  return microUsd >= 1e9 ? `$${SHORT.format(microUsd / 1e6)}` : moneyText(
    microUsd,
    microUsd % 10_000 === 0 ? 2 : microUsd % 100 === 0 ? 4 : 6,
  );
}

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact" });

/** An amount. `estimated` marks one that contains an estimate. */
export function Money(
  { microUsd, decimals, estimated = false }: {
    readonly microUsd: number;
    readonly decimals?: 2 | 4 | 6;
    readonly estimated?: boolean;
  },
): JSX.Element {
  return (
    <data value={String(microUsd)}>
      {estimated ? "≈\u00a0" : ""}
      {moneyText(microUsd, decimals ?? ownDecimals(microUsd))}
    </data>
  );
}

/** Decimals of an amount that stands alone: two where more would be zeros. */
function ownDecimals(microUsd: number): 2 | 4 {
  return microUsd !== 0 && microUsd % 10_000 === 0 ? 2 : decimalsOf([microUsd]);
}

/** A whole number with separators. */
export function countText(value: number): string {
  return value.toLocaleString("en-US");
}

/** A whole number with separators; its value is for programs. */
export function Count({ value }: { readonly value: number }): JSX.Element {
  return <data value={String(value)}>{countText(value)}</data>;
}
