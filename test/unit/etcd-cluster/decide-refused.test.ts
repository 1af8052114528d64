// A member that refuses its data: the proof that it does, and when it is replaced for it.
import { describe, expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { PeerClaim } from '../../../functions/etcd-cluster/state.ts';
import type { Crash, Pod } from '../../../shared/stateful/pods.ts';
import { type Row, shown } from './rows.ts';
import { type Differences, NOW_MS, silent, state } from './samples.ts';

const NOW = '2026-01-02T00:00:00Z';
const crashed = (restarts: number, differences: Partial<Crash> = {}): Crash => ({
  restarts,
  exitCode: 1,
  isUp: false,
  lastWords: '"error":"walpb: crc mismatch"',
  ...differences,
});

const ends =
  (
    crash: Crash | undefined,
    differences: Partial<Pod> = {},
    name = 'etcd-1',
  ): NonNullable<Differences['pods']> =>
  (pods) =>
    pods.map((one) =>
      one.name === `${name}-0` ? { ...one, isReady: false, crash, ...differences } : one,
    );

const refusing = { peer: 'etcd-1', podUid: 'pod of etcd-1', restarts: 2, since: NOW };
const refused = {
  peer: 'etcd-3',
  claim: 'data-etcd-3',
  claimUid: 'claim of etcd-3',
  why: 'its database is damaged',
  at: NOW,
};
const counted = { status: { refusing }, etcd: silent('etcd-1') };
const third = { ...counted, pods: ends(crashed(4)) };

const claims =
  (differences: Partial<PeerClaim>): NonNullable<Differences['claims']> =>
  (found) =>
    found.map((one) => (one.name === 'data-etcd-1' ? { ...one, ...differences } : one));

const kept: NonNullable<Differences['claims']> = (found) => {
  const [first] = found;
  if (first === undefined) throw new Error('no claims');
  const { claim: name, claimUid: uid } = refused;
  return [...found, { ...first, name, uid, clusterId: undefined, isKeptAside: true }];
};

const replaced: readonly Row[] = [
  [
    'is counted from when it was seen',
    { etcd: silent('etcd-1'), pods: ends(crashed(2)) },
    'write-records: Replace etcd-1',
  ],
  ['not after two starts', { ...counted, pods: ends(crashed(3)) }, 'wait: Nothing [DataRefused]'],
  ['after three', third, 'write-records: Replace etcd-1'],
  [
    'not while it starts again',
    { ...counted, pods: ends(crashed(4, { isUp: true })) },
    'wait: Nothing [DataRefused]',
  ],
  [
    'not another pod, of which nothing is counted',
    { ...counted, pods: ends(crashed(4), { uid: 'other' }) },
    'write-records: Leave etcd-1 in its place',
  ],
  [
    'not while another member is away',
    { ...third, etcd: silent('etcd-1', 'etcd-2') },
    'wait: Replace etcd-1 [MemberSilent]',
  ],
  [
    'and no second one beside it',
    {
      ...third,
      etcd: silent('etcd-1', 'etcd-2'),
      pods: (pods) => ends(crashed(4), {}, 'etcd-2')(ends(crashed(4))(pods)),
    },
    'wait: Replace etcd-1 [DataRefused]',
  ],
  [
    'amid its own restart, with the version that it had',
    {
      ...third,
      status: {
        refusing,
        restarting: { peer: 'etcd-1', podUid: 'former', reason: 'Other.', since: NOW },
      },
    },
    'write-records: Replace etcd-1',
  ],
  [
    'not amid the restart of another one',
    {
      ...third,
      status: {
        refusing,
        restarting: { peer: 'etcd-2', podUid: 'former', reason: 'Other.', since: NOW },
      },
    },
    'wait: Restart etcd-2 [DataRefused]',
  ],
  [
    'is left when it comes back',
    { status: { refusing } },
    'write-records: Leave etcd-1 in its place',
  ],
  [
    'not after another one was, whose claim is there',
    { ...third, status: { refusing, refused }, claims: kept },
    'wait: Replace etcd-1 [DataRefused] !DataRefused',
  ],
  [
    'again, once a person has deleted that claim',
    { ...third, status: { refusing, refused } },
    'write-records: Forget the data of etcd-3',
  ],
];

const proofs: readonly (readonly [name: string, observed: Differences])[] = [
  ['a member that answers', { ...third, etcd: (etcd) => etcd }],
  ['an outdated pod', { ...third, pods: ends(crashed(4), { templateHash: 't0' }) }],
  ['a pod that is ready', { ...third, pods: ends(crashed(4), { isReady: true }) }],
  ['a pod that is about to end', { ...third, pods: ends(crashed(4), { isEnding: true }) }],
  ['data of another version', { ...third, claims: claims({ version: '3.6.15' }) }],
  ['data of no known version', { ...third, claims: claims({ version: undefined }) }],
  ['a claim of others', { ...third, claims: claims({ clusterId: 'other' }) }],
  ['a claim that is another one', { ...third, claims: claims({ uid: 'other' }) }],
  ['a volume that is away', { ...third, claims: claims({ phase: 'Pending' }) }],
  ['a member that was killed', { ...third, pods: ends(crashed(4, { exitCode: 137 })) }],
  ['other last words', { ...third, pods: ends(crashed(4, { lastWords: 'no space left' })) }],
];

describe('a member that refuses its data is replaced', () => {
  test.each(replaced)('%s', (_, observed, decision) => {
    expect(shown(state(observed))).toBe(decision);
  });

  test.each(proofs)('not for %s', (_, observed) => {
    const { step } = decide(state(observed));
    const leaving = step?.type === 'write-records' ? step.records.leaving : undefined;
    expect(leaving).toBeUndefined();
    expect(step?.type).not.toBe('remove-member');
  });

  test('what is recorded has no claim that could be deleted', () => {
    const { step } = decide(state(third));
    if (step?.type !== 'write-records') throw new Error('nothing is recorded');
    const { leaving, refused: data, refusing: counting } = step.records;
    expect({ leaving, data, counting }).toEqual({
      leaving: {
        peer: 'etcd-1',
        peerUid: 'peer of etcd-1',
        memberId: '1001',
        reason: 'It refuses its data.',
        since: NOW,
      },
      data: {
        peer: 'etcd-1',
        claim: 'data-etcd-1',
        claimUid: 'claim of etcd-1',
        why: 'its log on the disk is damaged',
        at: NOW,
      },
      counting: undefined,
    });
  });

  test('its claim is kept aside after the others have removed it, before its peer goes', () => {
    const status = {
      leaving: {
        peer: 'etcd-1',
        peerUid: 'peer of etcd-1',
        memberId: '1001',
        reason: 'It refuses its data.',
        since: NOW,
      },
      refused: { ...refused, peer: 'etcd-1', claim: 'data-etcd-1', claimUid: 'claim of etcd-1' },
    };
    const away = { status, etcd: silent('etcd-1'), pods: ends(crashed(4)) };
    expect(shown(state(away))).toBe('remove-member: Replace etcd-1');
    const removed: NonNullable<Differences['etcd']> = (etcd, own) => {
      const now = silent('etcd-1')(etcd, own);
      const { list } = now;
      const members = list?.members.filter(({ id }) => id !== '1001') ?? [];
      return { ...now, list: list && { ...list, members } };
    };
    expect(shown(state({ ...away, etcd: removed }))).toBe(
      'mark-claim: Keep claim data-etcd-1 of a removed member aside',
    );
    const aside = claims({ clusterId: undefined, isKeptAside: true });
    expect(shown(state({ ...away, etcd: removed, claims: aside }))).toBe(
      'delete-peer: Replace etcd-1',
    );
  });

  test('it is told why, while it waits and after', () => {
    const { waitsFor } = decide(state({ ...counted, pods: ends(crashed(3)), nowMs: NOW_MS }));
    expect(waitsFor?.message).toBe('etcd-1 refuses its data: its log on the disk is damaged.');
    const { trouble } = decide(state({ ...third, status: { refusing, refused }, claims: kept }));
    expect(trouble?.message).toContain('Delete claim data-etcd-3');
  });
});
