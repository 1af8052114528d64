// The amounts that a container asks for where another one is to find room after it. Pure.
import type { Amounts } from '../../../shared/api/servers.ts';
import { quantityOf } from '../../../shared/kube/quantity.ts';

interface Resources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}

const AMOUNTS = ['cpu', 'memory'] as const;

/** The larger of each; where one of them has no limit there is none. */
export function roomFor(one: Resources, other: Resources): Resources {
  return {
    requests: amounts((of) => larger(one.requests?.[of], other.requests?.[of])),
    limits: amounts((of) => {
      const [first, second] = [one.limits?.[of], other.limits?.[of]];
      return first === undefined || second === undefined ? undefined : larger(first, second);
    }),
  };
}

function amounts(amountOf: (of: (typeof AMOUNTS)[number]) => string | undefined): Amounts {
  const all = AMOUNTS.map((of) => [of, amountOf(of)] as const);
  return Object.fromEntries(all.filter(([, amount]) => amount !== undefined));
}

function larger(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return quantityOf(one) < quantityOf(other) ? other : one;
}
