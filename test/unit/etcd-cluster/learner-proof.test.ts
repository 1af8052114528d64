// A learner votes only when it is seen to hear the leader: one that is cut off lags by nothing
// where little is written, and with its vote the others could have no quorum.
import { beforeEach, expect, test } from 'vitest';
import { decide } from '../../../functions/etcd-cluster/decide.ts';
import type { Deps } from '../../../functions/etcd-cluster/deps.ts';
import { applyStep } from '../../../functions/etcd-cluster/steps.ts';
import type { openEtcdAdmin } from '../../../shared/etcd/admin.ts';
import { type Differences, peerFor, state, withLearner } from './samples.ts';

const LEADER = 'http://10.0.0.1:2379';
const LEARNER = 'http://10.0.0.4:2379';
const TLS = { clients: { mode: 'None' }, peers: { mode: 'None' } } as const;
const { signal } = new AbortController();

/** Questions to the members, in their order. */
let asked: string[];
/** The last entry that the learner has applied, each time it is asked. */
let applied: (times: number) => number;

beforeEach(() => {
  asked = [];
});

/** Each entry of the log that the alarms go through is one more. */
const LEADS_AT = 20_001;

function open() {
  let times = 0;
  const statusAt = (url: string) => {
    if (url === LEADER) return { raftIndex: LEADS_AT, raftAppliedIndex: LEADS_AT };
    if (url !== LEARNER) throw new Error(`nobody is at ${url}`);
    times += 1;
    return { raftIndex: 20_000, raftAppliedIndex: applied(times) };
  };
  const ask = async (what: string): Promise<void> => void asked.push(what);
  return {
    alarms: { list: () => ask('list alarms') },
    members: { promote: (id: string) => ask(`promote ${id}`) },
    at: ({ url }: { readonly url: string }) => ({ status: async () => statusAt(url) }),
    close: async () => undefined,
  };
}

const deps = {
  openAdmin: open as unknown as typeof openEtcdAdmin,
  clock: { nowMs: () => 0, sleep: async () => void asked.push('wait') },
} as unknown as Deps;

/** It has caught up, as far as it says. */
const joining: Differences = {
  spec: { tls: TLS, replicas: 5 },
  ordinals: [0, 1, 2],
  etcd: withLearner(3, {}),
  peers: (all) => [...all, peerFor(state({ spec: { tls: TLS } }), 'etcd-3', ['etcd-3'])],
  pods: (all) => [
    ...all,
    ...all.slice(0, 1).map((one) => ({ ...one, name: 'etcd-3-0', ip: '10.0.0.4' })),
  ],
};

async function promoted(differences: Differences): Promise<string> {
  const one = state(differences);
  const { step } = decide(one);
  if (step?.type !== 'promote') throw new Error(`the step is ${step?.type ?? 'none'}`);
  const result = await applyStep(deps, one, step, signal);
  return 'reason' in result ? result.reason : (result.event?.reason ?? 'nothing');
}

test('one that applies what the leader wrote just now votes', async () => {
  applied = () => LEADS_AT;
  expect(await promoted(joining)).toBe('Promoted');
  expect(asked).toEqual(['list alarms', 'promote 1003']);
});

test('it is given a moment for it', async () => {
  applied = (times) => (times < 4 ? LEADS_AT - 1 : LEADS_AT);
  expect(await promoted(joining)).toBe('Promoted');
  expect(asked).toEqual(['list alarms', 'wait', 'wait', 'wait', 'promote 1003']);
});

test('one that no longer hears the leader is not promoted', async () => {
  applied = () => LEADS_AT - 1;
  expect(await promoted(joining)).toBe('nothing');
  expect(asked).toContain('wait');
  expect(asked).not.toContain('promote 1003');
});

test('and none is while nobody says who leads', async () => {
  applied = () => LEADS_AT;
  const one = state(joining);
  const step = { type: 'promote', peer: 'etcd-3', memberId: '1003' } as const;
  const answers = [...one.etcd.answers].map(
    ([name, answer]) => [name, { ...answer, leaderId: undefined }] as const,
  );
  const leaderless = { ...one, etcd: { ...one.etcd, answers: new Map(answers) } };
  await applyStep(deps, leaderless, step, signal);
  expect(asked).toEqual([]);
});
