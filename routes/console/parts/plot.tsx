/**
 * Plots as SVG, made on the server. Each stands beside the table of its figures, so it needs no
 * labels at the bars.
 */
import type { JSX } from "../jsx.d.ts";

/** A bar of stacked parts. */
interface Bar {
  /** Below the axis, if there is room. */
  readonly label: string;
  /** Where the bar leads. */
  readonly href?: string;
  /** Read aloud and shown as the tooltip. */
  readonly title: string;
  /** In the order of the series; not negative. */
  readonly values: readonly number[];
}

const WIDTH = 920;
const HEIGHT = 230;
/** Width of a letter of the scale in a narrow window. */
const LETTER = 9;
/** Room for the first label, which may be wider than its bar. */
const INSET = 16;
const TOP = 10;
const BOTTOM = 24;
const SERIES = 7;

/** Series beyond this number share the last colour. */
export const MAX_SERIES: number = SERIES;

/** Stacked bars with a scale. `valueText` labels the scale. */
export function BarPlot(
  { name, bars, series, valueText }: {
    readonly name: string;
    readonly bars: readonly Bar[];
    readonly series: readonly string[];
    valueText(value: number): string;
  },
): JSX.Element {
  const sums = bars.map(({ values }) => values.reduce((a, b) => a + b, 0));
  const top = roundTop(Math.max(0, ...sums));
  const height = HEIGHT - TOP - BOTTOM;
  // There is no half of a call.
  const scale = [0, top / 2, top].filter(Number.isInteger).map((value) => ({
    value,
    text: value === 0 ? "0" : valueText(value),
  }));
  // The scale is at the right end, which a narrow window shows first.
  const right = WIDTH - 8 -
    LETTER * Math.max(6, ...scale.map(({ text }) => text.length));
  const y = (value: number): number => TOP + height * (1 - value / top);
  const step = (right - INSET) / Math.max(1, bars.length);
  const width = Math.max(1, Math.min(46, step * 0.78));
  const every = Math.ceil(bars.length / 10);
  return (
    <div class="plot">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={name}>
        {scale.map(({ value, text }) => (
          <g>
            <line
              class="grid"
              x1="0"
              x2={right}
              y1={y(value)}
              y2={y(value)}
            />
            <text x={right + 8} y={y(value) + 4}>{text}</text>
          </g>
        ))}
        {bars.map((bar, at) => {
          const x = INSET + step * at + (step - width) / 2;
          let below = 0;
          const parts = (
            <>
              <title>{bar.title}</title>
              <rect
                x={x}
                y={TOP}
                width={width}
                height={height}
                fill="transparent"
              />
              {bar.values.map((value, index) => {
                const from = below;
                below += value;
                return value <= 0 ? null : (
                  <rect
                    class={`s${Math.min(index, SERIES - 1) + 1}`}
                    x={round(x)}
                    y={round(y(below))}
                    width={round(width)}
                    height={round(Math.max(0.5, y(from) - y(below)))}
                    rx="1.5"
                  />
                );
              })}
            </>
          );
          return (
            <g>
              {bar.href === undefined
                ? parts
                : <a href={bar.href} aria-label={bar.title}>{parts}</a>}
              {at % every === 0
                ? (
                  <text
                    x={round(x + width / 2)}
                    y={HEIGHT - 6}
                    text-anchor="middle"
                  >
                    {bar.label}
                  </text>
                )
                : null}
            </g>
          );
        })}
      </svg>
      <p class="soft" data-values aria-hidden="true">
        {bars.at(-1)?.title}
      </p>
      {series.length < 2 ? null : (
        <ul class="legend">
          {series.map((one, index) => (
            <li>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect
                  class={`s${Math.min(index, SERIES - 1) + 1}`}
                  width="10"
                  height="10"
                  rx="2"
                />
              </svg>
              <bdi>{one}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** How much of a limit is used, 0 to 1 or more; its text is beside it. */
export function Meter(
  { share, name }: { readonly share: number; readonly name: string },
): JSX.Element {
  const part = Math.min(1, Math.max(0, share));
  return (
    <div class="meter">
      <svg
        viewBox="0 0 100 1"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${Math.round(part * 100)} %`}
      >
        <rect
          class={part >= 1 ? "full" : part >= 0.8 ? "near" : "s1"}
          width={round(part * 100)}
          height="1"
        />
      </svg>
    </div>
  );
}

/** The next of 1, 2, 5, 10, 20, … */
function roundTop(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((one) => one * power >= value) ?? 10) * power;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
