// An EtcdCluster that a restore has made starts with the restored data, and with nothing else.
import { expect, test } from 'vitest';
import type { Row } from './rows.ts';
import { shown } from './rows.ts';
import { claimFor, type Differences, state } from './samples.ts';

const BORN = ['clusterId', 'bootstrap'] as const;
const nothing = { ordinals: [], pods: () => [], claims: () => [], without: BORN };
const annotations = { 'ballast.dev/etcd-cluster-id': 'c1' };
const claims =
  (clusterId: string | undefined): NonNullable<Differences['claims']> =>
  () => [{ ...claimFor('etcd-0'), clusterId }];

const ROWS: readonly Row[] = [
  [
    'to start with restored data it waits for the claim that has it, and is not born empty',
    { ...nothing, annotations },
    'wait: Start from the restored data [RestoredDataMissing] !RestoredDataMissing',
  ],
  [
    'nor on the unmarked claim of the first member',
    { ...nothing, claims: claims(undefined), annotations },
    'wait: Start from the restored data [RestoredDataMissing] !RestoredDataMissing',
  ],
  [
    'nor with data of another cluster',
    { ...nothing, claims: claims('d2'), annotations },
    'wait: Start from the restored data [RestoredDataMissing] !RestoredDataMissing',
  ],
  [
    'nor does it hibernate before it has that',
    {
      ...nothing,
      spec: { replicas: 0 },
      annotations,
    },
    'wait: Start from the restored data [RestoredDataMissing] !RestoredDataMissing',
  ],
  [
    'with the restored data it goes on',
    { ...nothing, claims: claims('c1'), annotations },
    'write-records: Go on with the data of cluster c1',
  ],
  ['once born, it is as any other', { annotations }, 'wait: Nothing'],
];

test.each(ROWS)('%s', (_, observed, decision) => {
  expect(shown(state(observed))).toBe(decision);
});
