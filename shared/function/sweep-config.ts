// The environment variables by which a function is told of its sweep: whoever watches over it
// counts by them.
import type { ConfigShape } from './config.ts';
import { integer, text } from './parsers.ts';

export interface SweepConfig {
  readonly leaseNamespace: string;
  readonly sweepSeconds: number;
}

export const SWEEP_CONFIG: ConfigShape<SweepConfig> = {
  leaseNamespace: {
    env: 'LEASE_NAMESPACE',
    meaning: 'the namespace of the Lease that each sweep renews',
    parse: text,
    fallback: 'ballast-system',
  },
  sweepSeconds: {
    env: 'SWEEP_SECONDS',
    meaning: 'how often the sweep comes, as its PingSource says',
    parse: integer(60, 3_600),
    fallback: 60,
  },
};
