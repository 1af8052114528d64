// A function that is left out of the wiring takes along all that would wake it, and nothing else.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leaveOut } from '../../../knative/try/local/manifests/leave-out.ts';
import { loadWiring } from '../../../knative/try/local/manifests/load.ts';

const wiring = await loadWiring(fileURLToPath(new URL('../../../knative', import.meta.url)));
const LISTS = ['functions', 'triggers', 'pings', 'sources'] as const;

test('without nats-cluster nothing of it is left, and all else is', () => {
  const rest = leaveOut(wiring, 'nats-cluster');
  for (const list of LISTS) {
    const names = wiring[list].map(({ name }) => name);
    const own = names.filter((name) => name.startsWith('nats-cluster'));
    expect(own).toHaveLength(1);
    expect(rest[list].map(({ name }) => name)).toEqual(names.filter((name) => name !== own[0]));
  }
  expect(rest.objects).toEqual(wiring.objects);
  expect(rest.brokers).toEqual(wiring.brokers);
});
