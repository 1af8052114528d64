// What the conditions say of a world and a decision.
import { expect, test } from 'vitest';
import { decide } from '../../../functions/nats-cluster/decide.ts';
import { sayingOf } from '../../../functions/nats-cluster/sayings.ts';
import { recordsOf } from '../../../functions/nats-cluster/world.ts';
import { type Differences, NOW_MS, outdated, world } from './samples.ts';

function degraded(differences: Differences): string {
  const one = world({ nowMs: NOW_MS, ...differences });
  const { conditions } = sayingOf(one, decide(one), recordsOf(one), new Map());
  const said = conditions.find(({ type }) => type === 'Degraded');
  return `${said?.status} ${said?.reason}`;
}

const missing: NonNullable<Differences['pods']> = (pods) =>
  outdated('nats-2')(pods).filter(({ name }) => name !== 'nats-1');
const restarting = {
  server: 'nats-1',
  podUid: 'gone',
  reason: 'Its pod template is another one now.',
  since: '2026-01-01T23:59:00Z',
};

test.each<[string, Differences, string]>([
  ['all is well', {}, 'False NotDegraded'],
  [
    'a server is missing',
    { pods: (pods) => pods.filter(({ name }) => name !== 'nats-1') },
    'True ServerAway',
  ],
  [
    'a server is missing while another one is to be restarted',
    { pods: missing },
    'True ServerAway',
  ],
  ['it is away at our wish', { pods: missing, status: { restarting } }, 'False NotDegraded'],
])('Degraded when %s', (_, differences, expected) => {
  expect(degraded(differences)).toBe(expected);
});
