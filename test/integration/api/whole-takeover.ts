// A Takeover with every field that the types in shared/api have, however deep.
import type { TakeoverSpec, TakeoverStatus } from '../../../shared/api/takeover.ts';
import { CONDITION as condition, type Whole, type WholeKind } from './whole-kind.ts';

const spec: Whole<Omit<TakeoverSpec, 'into'>> & Pick<TakeoverSpec, 'into'> = {
  legacy: {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    name: 'old',
    operator: { namespace: 'operators', name: 'etcd-operator' },
  },
  mode: 'Wipe',
  into: { name: 'new', spec: {} },
  wipe: 'old',
  confirm: 'over-0123456789ab',
  rollback: false,
};

const AT = '2026-11-26T11:00:00Z';

const finding = { reason: 'NoQuorum', message: 'There is none.' };

const status: Whole<Omit<TakeoverStatus, 'conditions'>> & { readonly conditions: unknown[] } = {
  observedGeneration: 1,
  phase: 'Running',
  steps: [{ name: 'Compare', precondition: 'It is Ready.', startedAt: AT, doneAt: AT }],
  work: {
    plan: 'over-0123456789ab',
    into: '0123456789abcdef',
    legacyUid: 'a',
    clusterId: '8e9e05c52164694d',
    service: { name: 'old-client', uid: 'b', selector: 'etcd_cluster=old' },
    claims: [{ name: 'old-x7k2m', uid: 'c' }],
    operators: [{ namespace: 'operators', name: 'op', uid: 'd', replicas: 1 }],
    attempt: 1,
    servers: [{ name: 'old-1', uid: 'e' }],
    target: '0123456789abcdef',
    oldMembers: [
      { name: 'old-a', id: '8e9e05c52164694d', peerUrl: 'http://old-a.old.shop.svc:2380' },
    ],
    newMembers: [{ name: 'new-0', peerUrl: 'http://new-0-0.new-headless.shop.svc:2380' }],
    moving: { pod: 'old-1', uid: 'e', clients: 50, own: 20, since: AT },
    frozen: { revision: '9', seenAt: AT, isSteady: true },
    newClusterId: '9e9e05c52164694d',
    lived: { since: AT, until: AT },
    compared: { keys: 2, after: 'YQ==', isWhole: true },
    undoing: 'somebody has written',
    switchingAt: AT,
    serviceVersion: '9',
    rollingBackAt: AT,
    endedAt: AT,
  },
  plan: {
    id: 'over-0123456789ab',
    next: 'Nothing',
    waitsFor: 'Nothing is carried out.',
    objects: [
      { action: 'Change', kind: 'Deployment', namespace: 'operators', name: 'op', why: 'It runs.' },
    ],
    steps: [
      {
        name: 'SwitchService',
        does: 'It does.',
        precondition: 'It holds.',
        writers: 'GoOn',
        noWayBack: true,
      },
    ],
    refusals: [finding],
    notes: [finding],
  },
  members: [
    {
      pod: 'old-x7k2m',
      id: '8e9e05c52164694d',
      version: '3.3.27',
      leads: true,
      storage: 'EmptyDir',
      databaseBytes: 20_480,
      silent: 'It does not answer.',
    },
  ],
  conditions: [condition],
};

const least = { legacy: { kind: 'EtcdCluster', name: 'old' }, into: { name: 'new' } };

export const TAKEOVER_KIND: WholeKind = {
  kind: 'Takeover',
  path: '/apis/ballast.dev/v1alpha1/namespaces/ballast-system/takeovers',
  specs: { whole: spec },
  status,
  least: { spec: least, filled: { mode: 'Restore' } },
};
