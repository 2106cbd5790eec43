/**
 * Decides whether a call may be made. Pure: takes an account's state and returns the state
 * after the call, or the refusal. A refusal changes nothing, so refused calls consume no
 * limit.
 *
 * Checks run in the order in which the client can act on them: account, plan, balance, then
 * the limits that pass with time.
 */
import { compact } from "../../../translate/bytes/compact.ts";
import type { LimitFill } from "../../../translate/model/error.ts";
import type { Limits } from "../accounts.ts";
import {
  type AccountState,
  addReserved,
  advanceTo,
  type Balance,
} from "./account_state.ts";
import {
  type ExceededLimit,
  exceededLimit,
  type LimitCode,
  MAX_RETRY_MS,
} from "../limits/exceeded_limit.ts";
import { isCount } from "./count_of_tokens.ts";
import { keyAt, type KeyState } from "./key_state.ts";
import {
  type LimitUse,
  nearer,
  nearestLimits,
  withCall,
} from "../limits/limit_use.ts";
import { usdText } from "../charges/money.ts";
import type { LimitSettings, ReservedCall } from "../records.ts";

/** Why a call is refused. */
export interface Refusal {
  /** `permission`: until an operator acts. `rate_limit`: until the limit has room again. */
  readonly kind: "permission" | "rate_limit";
  /** The reason, for programs. */
  readonly code:
    | "account_disabled"
    | "model_not_in_plan"
    | "insufficient_balance"
    | LimitCode;
  /** The reason, for the client. */
  readonly message: string;
  /** 1 to 60 whole seconds; limits only. */
  readonly retryAfterSeconds?: number;
  /** Whether a retry may succeed. */
  readonly retryable: boolean;
  /** Limits at the time of the refusal; a refusal consumes nothing. */
  readonly limits: Limits;
  /** How full the limit or the balance was; absent: neither is the reason. */
  readonly fill?: LimitFill;
  /** The limit that was reached; absent: the refusal has another reason. */
  readonly exceeded?: ExceededLimit;
}

/** The decision, and the state after it. */
type Admission =
  | {
    readonly granted: true;
    readonly state: AccountState;
    /** Absent: the key has no limits. */
    readonly key?: KeyState;
    /** Model whose own balance pays; empty: the account's balance. */
    readonly balanceModel: string;
    readonly limits: Limits;
  }
  | { readonly granted: false; readonly refusal: Refusal };

/** Decides on a call at `nowMs`. `keyBefore` is absent if the key has no limits. */
export function admit(
  before: AccountState,
  keyBefore: KeyState | undefined,
  call: ReservedCall,
  nowMs: number,
): Admission {
  const state = advanceTo(before, nowMs);
  const key = keyBefore === undefined ? undefined : keyAt(keyBefore, nowMs);
  const { account, plan } = state;
  const limits = limitsOf(state, key);
  const deny = (
    code: Refusal["code"],
    message: string,
    fill?: LimitFill,
  ): Admission => ({
    granted: false,
    refusal: {
      kind: "permission",
      code,
      message,
      retryable: false,
      limits,
      ...(fill === undefined ? {} : { fill }),
    },
  });
  if (account.status === "disabled") {
    return deny("account_disabled", "the account is disabled");
  }
  if (plan.models !== undefined && !plan.models.includes(call.model)) {
    return deny("model_not_in_plan", notInPlan(call.model));
  }
  const modelBalance = state.modelBalances.get(call.model);
  const payer = modelBalance ?? account;
  if (
    (modelBalance !== undefined || account.billing === "prepaid") &&
    payer.balanceMicroUsd - payer.reservedMicroUsd < call.reservedMicroUsd
  ) {
    return deny(
      "insufficient_balance",
      outOfBalance(payer, call, modelBalance),
      {
        limit: payer.balanceMicroUsd,
        used: payer.reservedMicroUsd,
        needed: call.reservedMicroUsd,
      },
    );
  }
  const exceeded = slower(
    exceededLimit("account", state.use, plan, call, nowMs),
    key && exceededLimit("key", key.use, key.limits, call, nowMs),
  );
  if (exceeded !== undefined) {
    return { granted: false, refusal: limitRefusal(exceeded, limits) };
  }
  const balanceModel = modelBalance === undefined ? "" : call.model;
  const reserved = addReserved(state, balanceModel, call.reservedMicroUsd);
  const granted = { ...reserved, use: withCall(state.use, plan, call) };
  const grantedKey = key &&
    { ...key, use: withCall(key.use, key.limits, call) };
  return {
    granted: true,
    state: granted,
    ...(grantedKey === undefined ? {} : { key: grantedKey }),
    balanceModel,
    limits: limitsOf(granted, grantedKey),
  };
}

/** The limit that takes longer to open. */
function slower(
  ofAccount: ExceededLimit | undefined,
  ofKey: ExceededLimit | undefined,
): ExceededLimit | undefined {
  if (ofAccount === undefined || ofKey === undefined) return ofAccount ?? ofKey;
  return ofKey.waitMs > ofAccount.waitMs ? ofKey : ofAccount;
}

function limitRefusal(exceeded: ExceededLimit, limits: Limits): Refusal {
  const { code, message, retryable, waitMs, limit, used, needed } = exceeded;
  return {
    kind: "rate_limit",
    code,
    message,
    retryable,
    retryAfterSeconds: Math.max(
      1,
      Math.ceil(Math.min(MAX_RETRY_MS, waitMs) / 1000),
    ),
    limits,
    fill: { limit, used, needed },
    exceeded,
  };
}

/** The nearest limits of the account and its key. */
function limitsOf(
  { use, plan }: { readonly use: LimitUse; readonly plan: LimitSettings },
  key: KeyState | undefined,
): Limits {
  const ofAccount = nearestLimits(use, plan);
  if (key === undefined) return ofAccount;
  const ofKey = nearestLimits(key.use, key.limits);
  return compact({
    requests: nearer(ofAccount.requests, ofKey.requests),
    tokens: nearer(ofAccount.tokens, ofKey.tokens),
  });
}

/** Error text for a model outside the plan or the key's own list. */
export function notInPlan(model: string): string {
  return `the model ${model} is not in the plan of this key: GET /v1/models lists what it can call`;
}

function outOfBalance(
  payer: Balance,
  call: ReservedCall,
  modelBalance: Balance | undefined,
): string {
  const name = modelBalance === undefined
    ? "the balance"
    : `the balance for ${call.model}`;
  const held = payer.reservedMicroUsd === 0
    ? ""
    : ` (${
      usdText(payer.reservedMicroUsd)
    } of it reserved for active requests)`;
  if (isCount(call)) {
    return `${name} of ${
      usdText(payer.balanceMicroUsd)
    }${held} covers no call, so no count of its tokens: top up the account`;
  }
  return `${name} of ${
    usdText(payer.balanceMicroUsd)
  }${held} does not cover this request, which may cost up to ${
    usdText(call.reservedMicroUsd)
  } (${call.inputTokens} tokens in, at most ${call.maxOutputTokens} out): top up the account, or lower max_tokens`;
}
