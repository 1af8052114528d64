// Gauges that objects with servers have in common, for alerts: since when an object is not as it is
// to be, and whether a step waits. A time goes on being true while nobody looks, as an age would
// not. All of it is known from the look that writes the status.
import type { Metrics } from '../function/metrics.ts';
import { type ConditionInput, conditionsOf } from '../kube/conditions.ts';
import type { Kept, Seen } from './keeping.ts';
import { ObjectGauges } from './object-gauges.ts';

/** How the metrics of one kind begin, the kind, and the label with the name of an object. */
export interface GaugesOf {
  readonly prefix: string;
  readonly kind: string;
  readonly label: string;
}

const COMMON = {
  observed_timestamp_seconds: 'When KIND was looked at last, in Unix seconds.',
  not_ready_since_timestamp_seconds:
    'Since when Ready of KIND is not True, in Unix seconds; 0 while it is True.',
  degraded_since_timestamp_seconds:
    'Since when Degraded of KIND is True, in Unix seconds; 0 while it is not.',
  changing_since_timestamp_seconds:
    'Since when steps are taken at KIND, in Unix seconds; 0 while nothing is changed, and when a ' +
    'person is needed. The next step is plan.next in its status.',
  waiting: '1 while the next step at KIND waits for something, which plan.waitsFor says, else 0.',
};

export class ServersGauges<More extends string> {
  readonly #gauges: ObjectGauges<string>;
  readonly #of: GaugesOf;

  constructor(metrics: Metrics, of: GaugesOf, more: Readonly<Record<More, string>>) {
    this.#of = of;
    const help = Object.entries<string>({ ...COMMON, ...more }).map(([name, text]) => [
      this.#nameOf(name),
      text.replaceAll('KIND', of.kind),
    ]);
    this.#gauges = new ObjectGauges(metrics, ['namespace', of.label], Object.fromEntries(help));
  }

  /** Undefined for what cannot be said of it. */
  show(object: Kept, seen: Seen, more: Readonly<Record<More, number | undefined>>): void {
    const { namespace, name, uid } = object;
    const values = Object.entries<number | undefined>({ ...commonOf(object, seen), ...more });
    this.#gauges.show(
      uid,
      { namespace, [this.#of.label]: name },
      Object.fromEntries(values.map(([one, value]) => [this.#nameOf(one), value])),
    );
  }

  keepOnly(uids: ReadonlySet<string>): void {
    this.#gauges.keepOnly(uids);
  }

  #nameOf(name: string): string {
    return `${this.#of.prefix}_${name}`;
  }
}

function commonOf(object: Kept, seen: Seen): Readonly<Record<keyof typeof COMMON, number>> {
  const { nowMs, decision } = seen;
  const { next, waitsFor, trouble } = decision;
  const isWaiting = next !== 'Nothing' && (waitsFor ?? trouble) !== undefined;
  return {
    observed_timestamp_seconds: nowMs / 1_000,
    not_ready_since_timestamp_seconds:
      sinceOf(object, seen, 'Ready', ({ status }) => status !== 'True') ?? 0,
    degraded_since_timestamp_seconds: sinceOf(object, seen, 'Degraded', isTrue) ?? 0,
    changing_since_timestamp_seconds: sinceOf(object, seen, 'Progressing', isTrue) ?? 0,
    waiting: Number(isWaiting),
  };
}

type Told = Pick<ConditionInput, 'status' | 'reason'>;

const isTrue = ({ status }: Told): boolean => status === 'True';

/**
 * Since when a condition is so, in Unix seconds; undefined while it is not. The status has that,
 * or this look is the first to see it.
 */
export function sinceOf(
  { object }: Pick<Kept, 'object'>,
  { conditions, nowMs }: Pick<Seen, 'conditions' | 'nowMs'>,
  type: string,
  isSo: (told: Told) => boolean,
): number | undefined {
  const now = conditions.find((one) => one.type === type);
  if (now === undefined || !isSo(now)) return undefined;
  const before = conditionsOf(object).find((one) => one.type === type);
  const wasSo = before !== undefined && isSo(before);
  return (wasSo ? Date.parse(before.lastTransitionTime) : nowMs) / 1_000;
}
