/**
 * What the usage on the page would have cost at another model's prices.
 */
import type { JSX } from "../jsx.d.ts";
import type {
  ComparedModel,
  UsageComparison,
} from "../../../gateway/admin/usage_comparison.ts";
import { DataTable, Foreign } from "./data_table.tsx";
import type { FigureFilters } from "./figure_links.ts";
import { countText, Money } from "./money.tsx";

/** The choice of a model, and the figures once one is chosen. */
export function Comparison(
  { base, filters, by, models, result }: {
    readonly base: string;
    readonly filters: FigureFilters;
    readonly by: string;
    readonly models: readonly ComparedModel[];
    readonly result: UsageComparison | undefined;
  },
): JSX.Element {
  return (
    <section class="card" id="compare">
      <h2>What would it have cost?</h2>
      <form class="row" action={`${base}/usage#compare`}>
        {Object.entries({ ...filters, by }).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <label>
          At the prices of
          <select name="at">
            {models.map(({ id }) => (
              <option key={id} value={id} selected={id === result?.at.id}>
                {id}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Compare</button>
      </form>
      {result === undefined ? null : <Figures result={result} />}
    </section>
  );
}

function Figures(
  { result }: { readonly result: UsageComparison },
): JSX.Element {
  const { lines, at, price } = result;
  return (
    <>
      <DataTable
        name={`Usage at the prices of ${at.id}`}
        rows={lines}
        columns={[
          {
            name: "Called",
            isFirst: true,
            wraps: true,
            cell: ({ model }) => <Foreign text={model} />,
            sum: "Sum",
          },
          {
            name: "Calls",
            number: true,
            cell: ({ requests }) => countText(requests),
            sum: countText(result.requests),
          },
          {
            name: "Cost",
            number: true,
            cell: ({ microUsd }) => <Money microUsd={microUsd} decimals={6} />,
            sum: <Money microUsd={result.microUsd} decimals={6} />,
          },
          {
            name: "Would have cost",
            number: true,
            cell: ({ wouldBeMicroUsd }) => (
              <Money microUsd={wouldBeMicroUsd} decimals={6} />
            ),
            sum: <Money microUsd={result.wouldBeMicroUsd} decimals={6} />,
          },
          {
            name: "Difference",
            number: true,
            cell: (line) => (
              <Money
                microUsd={line.wouldBeMicroUsd - line.microUsd}
                decimals={6}
              />
            ),
            sum: (
              <Money
                microUsd={result.wouldBeMicroUsd - result.microUsd}
                decimals={6}
              />
            ),
          },
        ]}
      />
      <p>
        Per million tokens: input{" "}
        <Money microUsd={price.input} />, read from the cache{" "}
        <Money microUsd={price.cacheRead} />, written to it{" "}
        <Money microUsd={price.cacheWrite} />, output{" "}
        <Money microUsd={price.output} />.
      </p>
      <ul class="soft">
        {result.assumptions.map((one) => <li key={one}>{one}</li>)}
      </ul>
    </>
  );
}
