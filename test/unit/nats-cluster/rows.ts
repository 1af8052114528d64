// One decision to a row, for the tests in this folder: what differs from a cluster at rest, and
// which step comes next.
import type { Decision } from '../../../functions/nats-cluster/decision.ts';
import type { Differences } from './samples.ts';

/** A name, the differences from a cluster at rest, and the decision in a word. */
export type Row = readonly [title: string, differences: Differences, decision: string];

export function shown({ step, next, waitsFor, trouble }: Decision): string {
  const title = step === undefined ? `wait: ${next}` : `${step.type}: ${next}`;
  const waits = waitsFor === undefined ? '' : ` [${waitsFor.reason}]`;
  return `${title}${waits}${trouble === undefined ? '' : ` !${trouble.reason}`}`;
}

export const silent =
  (server: string): NonNullable<Differences['nats']> =>
  (nats) => ({ ...nats, servers: new Map([...nats.servers].filter(([name]) => name !== server)) });

/** It answers, but not when it is asked for its streams. */
export const reticent =
  (server: string): NonNullable<Differences['nats']> =>
  (nats) => ({
    ...nats,
    servers: new Map(
      [...nats.servers].map(([name, seen]) => [name, { ...seen, reportsStreams: name !== server }]),
    ),
  });
