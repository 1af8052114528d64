// Command-line options of `npm run measure`; every wrong one is named.
import { readArguments, UsageError } from '../../shared/arguments.ts';
import { whole } from '../whole.ts';

export const USAGE = `\
npm run measure -- scale                       at 5,000, 10,000 and 20,000 pods
npm run measure -- scale --pods 1000,2000      at other sizes, each larger than the one before
npm run measure -- soak                        memory over an hour of changes
npm run measure -- soak --minutes 5            over a shorter time
npm run measure -- floods                      memory of each function in every flood
npm run measure -- floods --only locate        of those that are named, with commas between them
npm run measure -- floods --like labels        only floods with this in their names
npm run measure -- floods --only locate --shown 100000   with so many pods in its feed
npm run measure -- takeover-etcd               an old etcd in pods, led over; as root
npm run measure -- takeover-etcd --keys 1000   with so many keys, not 100,000
npm run measure -- takeover-join               the same by members that join; as root
npm run measure -- takeover-nats               an old NATS in pods, led over; as root
`;

/** Those that can be flooded. */
export const FUNCTIONS = [
  'metadata',
  'locate',
  'nats-cluster',
  'etcd-cluster',
  'etcd-peer',
  'storage-migration',
  'storage-audit',
  'dead-letters',
] as const;

export interface MeasureOptions {
  readonly measurement: string;
  readonly sizes: readonly number[];
  readonly minutes: number;
  readonly only: readonly string[];
  readonly events: number;
  readonly like: string;
  readonly shown: number;
  readonly keys: number;
}

export function readOptions(args: readonly string[]): MeasureOptions {
  try {
    const { values, positionals } = readArguments(args, {
      pods: { type: 'string', default: '5000,10000,20000' },
      minutes: { type: 'string', default: '60' },
      like: { type: 'string', default: '' },
      events: { type: 'string', default: '100000' },
      shown: { type: 'string', default: '0' },
      keys: { type: 'string', default: '100000' },
      only: { type: 'string', default: FUNCTIONS.join(',') },
      help: { type: 'boolean', short: 'h', default: false },
    });
    const sizes = values.pods.split(',').map((text) => whole('--pods', text));
    if (sizes.some((size, at) => size <= (sizes[at - 1] ?? 0))) {
      throw new Error('--pods wants each size larger than the one before.');
    }
    const only = values.only.split(',');
    const unknown = only.find((name) => !FUNCTIONS.some((one) => one === name));
    if (unknown !== undefined) throw new Error(`--only wants functions, not ${unknown}.`);
    const measurement = values.help ? 'help' : positionals.join(' ');
    const { like } = values;
    const events = whole('--events', values.events);
    const shown = values.shown === '0' ? 0 : whole('--shown', values.shown);
    const minutes = whole('--minutes', values.minutes);
    const keys = whole('--keys', values.keys);
    return { measurement, sizes, minutes, only, events, like, shown, keys };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
