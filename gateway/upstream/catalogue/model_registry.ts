/**
 * The offered models and their candidates: the catalogue joined with the configured vendors.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { Capabilities } from "../../../translate/model/capabilities.ts";
import { PRICED_BETAS } from "../../../translate/model/betas.ts";
import type { UpstreamDialect } from "../../../translate/dialect.ts";
import { upstreamDialect } from "../../../translate/dialects.ts";
import type { DialectName } from "../../../translate/model/request.ts";
import { withHostErrors } from "../../../translate/host_errors.ts";
import { redactKey } from "../../../translate/errors/redact_key.ts";
import type { VendorAccess } from "../../settings/config.ts";
import type { HostRequest } from "../../../translate/upstream_request.ts";
import { Breaker } from "../health/breaker.ts";
import type { Credential } from "../credentials/credential.ts";
import { keyCredential } from "../credentials/key_credential.ts";
import { fill } from "../hosts/address.ts";
import { type CallAddress, callAddress } from "../hosts/hosts.ts";
import type { HostDialect, ToolUse } from "../hosts/host.ts";
import { forModel, ruleFor } from "../hosts/model_rules.ts";
import {
  type CandidateRow,
  capabilitiesOf,
  type Catalogue,
  type Model,
} from "./catalogue.ts";
import type { CallLimits } from "../http/phase_timer.ts";
import type { Way } from "../http/way.ts";
import { RetryBudget } from "../health/retry_budget.ts";

/** A model at a vendor, with everything that a call needs. */
export interface Candidate {
  /** The requested model; its price applies whichever candidate replies. */
  readonly model: Model;
  /** `vendor/model`, for log and metrics. */
  readonly name: string;
  /** As the configuration names it. */
  readonly vendor: string;
  /** The vendor's own id of the model. */
  readonly upstreamModel: string;
  /** How requests are changed for the host. */
  readonly host: HostRequest;
  /** Candidates with lower values are called first. */
  readonly priority: number;
  /** Share of the calls among candidates of the same priority; more than 0. */
  readonly weight: number;
  /** The dialect of the upstream. It removes the vendor's key from texts for clients. */
  readonly dialect: UpstreamDialect;
  /** Authenticates its calls; shared by all candidates of a vendor. */
  readonly credential: Credential;
  /** Whether its host serves the models of one built-in vendor only, with that vendor's habits. */
  readonly servesOneVendor: boolean;
  /** Whether a reply that is cancelled is generated and billed to its end. */
  readonly billsCancelled: boolean;
  /** Where it is called. */
  readonly address: CallAddress;
  /** How its addresses are reached; absent: as everything else. */
  readonly way?: Way;
  /** The address of another path of its vendor: a template as those of the host. */
  urlAt(path: string): string;
  /** The dialect as the vendor's host serves it. */
  readonly hostDialect: HostDialect;
  /** The dialect's defaults, overridden by the rows of the model and the candidate. */
  readonly capabilities: Capabilities;
  /** Time limits that replace the HTTP client's own; absent: none. */
  readonly limits?: Partial<CallLimits>;
  /** Shared by the candidate's variants for all client dialects. */
  readonly health: Breaker;
}

export interface ModelRegistry {
  /** In the catalogue's order. */
  readonly models: readonly Model[];
  /** The model with an id that clients use; undefined if it is not offered. */
  model(id: string): Model | undefined;
  /**
   * The model's candidates by ascending priority, one per row, in the client's own dialect if the
   * vendor supports it. For a request with special tools, some rows ask for another dialect.
   */
  candidates(
    model: Model,
    caller: DialectName,
    toolUse?: ToolUse,
  ): readonly Candidate[];
  /** The retry budget of the model's calls. */
  budget(model: Model): RetryBudget;
  /** One candidate per row of each offered model, for reports. */
  readonly allCandidates: readonly Candidate[];
  /** Every text of the credentials that must not appear outside of calls. */
  secrets(): readonly string[];
  /** Closes the credentials. */
  close(): void;
}

interface OfferedModel {
  readonly budget: RetryBudget;
  readonly candidates: ByCaller;
  /** For requests with special tools. */
  readonly byToolUse: Readonly<Record<ToolUse, ByCaller>>;
}

type ByCaller = (caller: DialectName) => readonly Candidate[];

/** Credentials by the names of their vendors. */
export type Credentials = Readonly<Record<string, Credential>>;

/**
 * Joins the catalogue with the vendors that can be called.
 *
 * @param credentials of the vendors in `access`; absent: their keys
 * @param previous the registry that this one replaces: candidates whose vendor has not changed keep
 * their health
 */
export function modelRegistry(
  catalogue: Catalogue,
  access: Readonly<Record<string, VendorAccess>>,
  credentials: Credentials = keysOf(access),
  previous?: ModelRegistry,
): ModelRegistry {
  const byId = new Map<string, Model>();
  const byModel = new Map<Model, OfferedModel>();
  const before = new Map(
    previous?.allCandidates.map((one) => [healthKey(one.model, one.name), one]),
  );
  for (const model of catalogue.models) {
    const rows = model.candidates
      .filter((row) => access[row.vendor] !== undefined)
      .toSorted((a, b) => a.priority - b.priority)
      .map((row) => {
        const one = before.get(healthKey(model, nameOf(row)));
        const isSame = one !== undefined &&
          one.credential === credentials[row.vendor] &&
          one.address.whole.startsWith(access[row.vendor]?.baseUrl ?? "");
        return { row, health: isSame ? one.health : new Breaker() };
      });
    if (rows.length === 0) {
      continue;
    }
    const candidatesFor = (
      caller: DialectName,
      toolUse: ToolUse | undefined,
    ): readonly Candidate[] =>
      rows.flatMap(({ row, health }) =>
        candidate(catalogue, access, credentials, model, row, health, [
          ...preferredDialects(
            row,
            vendorOf(catalogue, row)?.dialects ?? [],
            toolUse,
          ),
          caller,
        ])
      );
    const byCaller = (toolUse?: ToolUse): ByCaller =>
      computeOnce((caller) => candidatesFor(caller, toolUse));
    byId.set(model.id, model);
    byModel.set(model, {
      budget: new RetryBudget(),
      candidates: byCaller(),
      byToolUse: {
        "reasoning asked": byCaller("reasoning asked"),
        "reasoning left to the model": byCaller("reasoning left to the model"),
        "web search": byCaller("web search"),
      },
    });
  }
  const offeredModel = (model: Model): OfferedModel => {
    const found = byModel.get(model);
    if (found === undefined) throw new Error(`${model.id} is not offered`);
    return found;
  };
  return {
    models: [...byId.values()],
    model: (id) => byId.get(id),
    candidates(model, caller, toolUse) {
      const { candidates, byToolUse } = offeredModel(model);
      return toolUse === undefined
        ? candidates(caller)
        : byToolUse[toolUse](caller);
    },
    budget: (model) => offeredModel(model).budget,
    allCandidates: [...byModel.values()].flatMap(({ candidates }) =>
      candidates("messages")
    ),
    secrets: () =>
      Object.values(credentials).flatMap((one) => [...one.secrets()]),
    close() {
      for (const one of Object.values(credentials)) one.close();
    },
  };
}

/** Each answer is computed once, when it is first needed: a host may list a thousand models. */
function computeOnce(candidates: ByCaller): ByCaller {
  const known = new Map<DialectName, readonly Candidate[]>();
  return (caller) => {
    const found = known.get(caller) ?? candidates(caller);
    known.set(caller, found);
    return found;
  };
}

/** Identifies a candidate within its registry. */
function healthKey({ id }: Model, name: string): string {
  return `${id}\n${name}`;
}

function keysOf(access: Readonly<Record<string, VendorAccess>>): Credentials {
  return Object.fromEntries(
    Object.entries(access).map(([name, { apiKey }]) => [
      name,
      keyCredential(apiKey === undefined ? [] : [apiKey]),
    ]),
  );
}

/** The dialects in which the model takes tools with such reasoning, where it is not every one. */
function preferredDialects(
  { upstreamModel }: CandidateRow,
  dialects: readonly HostDialect[],
  toolUse: ToolUse | undefined,
): readonly DialectName[] {
  // The chat format has no search.
  if (toolUse === "web search") return ["responses"];
  return toolUse === undefined ? [] : dialects.flatMap((one) => {
    const asks = ruleFor(one, upstreamModel)?.preferred;
    return asks?.when.includes(toolUse) === true ? [asks.dialect] : [];
  });
}

function vendorOf(
  { vendors }: Catalogue,
  row: CandidateRow,
): Catalogue["vendors"][number] | undefined {
  return vendors.find(({ name }) => name === row.vendor);
}

function nameOf(row: CandidateRow): string {
  return `${row.vendor}/${row.upstreamModel}`;
}

function candidate(
  catalogue: Catalogue,
  access: Readonly<Record<string, VendorAccess>>,
  credentials: Credentials,
  model: Model,
  row: CandidateRow,
  health: Breaker,
  wanted: readonly DialectName[],
): readonly Candidate[] {
  const vendorAccess = access[row.vendor];
  const credential = credentials[row.vendor];
  const vendor = vendorOf(catalogue, row);
  const dialects =
    vendor?.dialects.filter(({ dialect }) =>
      (row.dialect === undefined || dialect === row.dialect) &&
      vendorAccess?.dialects?.includes(dialect) !== false
    ) ?? [];
  let hostDialect: HostDialect | undefined;
  for (const one of wanted) {
    hostDialect ??= dialects.find(({ dialect }) => dialect === one);
  }
  const served = hostDialect ?? dialects[0];
  if (
    vendorAccess === undefined || served === undefined ||
    credential === undefined
  ) return [];
  hostDialect = forModel(served, row.upstreamModel);
  const limits = { ...model.limits, ...row.limits };
  const values = { ...vendor?.values, model: row.upstreamModel };
  return [{
    model,
    name: nameOf(row),
    vendor: row.vendor,
    upstreamModel: row.upstreamModel,
    host: {
      betas: row.betas,
      allowedBetas: allowedBetas(model, row, hostDialect),
      ...compact({ edits: hostDialect.edits }),
    },
    priority: row.priority,
    weight: row.weight,
    dialect: redactKey(dialectAt(hostDialect), credential.secrets),
    credential,
    servesOneVendor: vendor?.serves !== undefined,
    billsCancelled: vendor?.billsCancelled === true,
    address: callAddress(vendorAccess.baseUrl, hostDialect, values, row.route),
    ...(vendorAccess.way === undefined ? {} : { way: vendorAccess.way }),
    urlAt: (path) => `${vendorAccess.baseUrl}${fill(path, values)}`,
    hostDialect,
    capabilities: capabilitiesOf(row, hostDialect),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    health,
  }];
}

function dialectAt({ dialect, errors }: HostDialect): UpstreamDialect {
  const plain = upstreamDialect(dialect);
  return errors === undefined ? plain : withHostErrors(plain, errors);
}

/** The betas that clients of a candidate may ask for beside those that change no price. */
function allowedBetas(
  { cards, allowedBetas = [] }: Model,
  row: CandidateRow,
  { headers = {} }: HostDialect,
): readonly string[] {
  const hasPrice = cards.some(({ isFree, when = [] }) =>
    isFree === true || when.some(({ promptAbove }) => promptAbove !== undefined)
  );
  return [
    ...row.allowedBetas ?? allowedBetas,
    ...(hasPrice ? PRICED_BETAS : []),
    // The operator sends these with every call.
    ...headers["anthropic-beta"]?.split(",").map((beta) => beta.trim()) ?? [],
  ];
}
