// Retries by Knative's two sets of rules, the one of brokers and the one of sources.
import type { Clock } from '../../../../shared/clock.ts';
import type { DeliverySpec } from '../manifests/wiring.ts';

/** How one try ended. */
export interface Attempt {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The problem, for people; undefined when all went well. */
  readonly problem?: string;
}

export interface RetryRules {
  readonly retries: number;
  isRetried(attempt: Attempt): boolean;
  /** The pause before retry number `retry`, which starts at 0. */
  pauseMs(retry: number): number;
}

const BROKER_RETRIED: ReadonlySet<number> = new Set([0, 404, 408, 409, 429]);
const SOURCE_RETRIED: ReadonlySet<number> = new Set([0, 404, 413, 425, 429, 502, 503, 504]);
const SOURCE_RETRIES = 5;
const SOURCE_DELAY_MS = 50;

/**
 * `Retry-After` is not looked at: Knative does so only where `retryAfterMax` is set, behind a
 * feature that is off by default. Both counts start at 0, so that the first linear pause is none at
 * all.
 */
export function brokerRules({ retries, backoff }: DeliverySpec): RetryRules {
  return {
    retries,
    isRetried: ({ status }) => BROKER_RETRIED.has(status) || status >= 500,
    pauseMs: (retry) => {
      if (backoff === undefined) return 0;
      return backoff.delayMs * (backoff.policy === 'linear' ? retry : 2 ** retry);
    },
  };
}

/** ApiServerSource and PingSource: 100, 200, ... 1600 ms, and 500, 408 and 409 are final. */
export const sourceRules: RetryRules = {
  retries: SOURCE_RETRIES,
  isRetried: ({ status }) => SOURCE_RETRIED.has(status),
  pauseMs: (retry) => SOURCE_DELAY_MS * 2 ** (retry + 1),
};

export const isSuccess = ({ status }: Attempt): boolean => status >= 200 && status < 300;

/**
 * Resolves with the last try, whatever its end. Rejects only when `signal` aborts during a pause.
 */
export async function sendWithRetries(
  send: () => Promise<Attempt>,
  rules: RetryRules,
  { clock, signal, onRetry }: { clock: Clock; signal: AbortSignal; onRetry: () => void },
): Promise<Attempt> {
  for (let retry = 0; ; retry += 1) {
    const attempt = await send();
    if (isSuccess(attempt) || !rules.isRetried(attempt) || retry === rules.retries) return attempt;
    await clock.sleep(rules.pauseMs(retry), signal);
    onRetry();
  }
}
